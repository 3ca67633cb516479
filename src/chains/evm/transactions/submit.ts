import type { Recorder } from '../../../ports/settlementJournal.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { createCallQueue } from './batching/callQueue.js'
import {
  createSendCalls,
  type OutgoingCall,
  type SendCallsDependencies,
  type Submitted,
  settlementTooLate,
} from './batching/sendCalls.js'
import { maxInFlight } from './lanes/noncePool.js'
import type { RevertReason, SettlementCall } from './settlementCall.js'

export interface Submission {
  readonly call: SettlementCall
  readonly recorder: Recorder
  /** Whose part of the gas budget it uses; null for none. */
  readonly caller: string | null
  /** Its gas was promised: no budget refuses it. */
  readonly isPromised?: boolean
  /** Aborts the wait for a slot. */
  readonly waitUntil: AbortSignal
  /** Must not share a transaction. */
  readonly isUnbatched?: boolean
}

/** Records, then sends. Throws only when nothing was recorded; `RevertReason`: why the simulation failed. */
export type Submit = (submission: Submission) => Promise<Submitted | RevertReason>

// Larger batches save little: 51.1k gas per payment at 50, 50.7k at 100 (Circle's USDC).
const maxCallsPerTransaction = 50
const maxBatchWaitMs = 25
// A longer queue means that sending is stalled.
const maxQueueLength = 5_000

/** Calls that wait together share a transaction. */
export const createSubmit = (dependencies: SendCallsDependencies): Submit => {
  const { network, pool, signers, canPay, deadlineClock, expiryMarginSeconds } = dependencies
  const sendCalls = createSendCalls(dependencies)

  const queue = createCallQueue<OutgoingCall>({
    maxItems: maxCallsPerTransaction,
    maxWaitMs: maxBatchWaitMs,
    isReady: () => {
      if (pool.countFreeSlots() > 0) return true
      if (signers.addresses.some(canPay)) return false
      throw networkUnavailable(network.network)
    },
    whenChanged: pool.whenSlotFreed,
    send: sendCalls,
    refuse: (items, error) => {
      for (const item of items) item.reject(error)
    },
  })

  /** Expected wait for a slot of a call queued now. */
  const expectedWaitMs = (): number => {
    if (pool.countFreeSlots() > 0) return 0
    const lanes = signers.addresses.filter(canPay).length
    const perInclusion = Math.max(1, lanes) * maxInFlight * maxCallsPerTransaction
    const inclusionMs = Math.max(pool.expectInclusionMs(), network.pollIntervalMs)
    return Math.ceil((queue.length + 1) / perInclusion) * inclusionMs
  }

  const refuseHopeless = (deadline: bigint): void => {
    const nowMs = deadlineClock.now().getTime()
    const waitMs = expectedWaitMs()
    const remainingMs = Number(deadline) * 1_000 - nowMs - expiryMarginSeconds * 1_000
    if (queue.length < maxQueueLength && waitMs <= remainingMs) return
    throw settlementTooLate(network.network, waitMs)
  }

  return async ({ call, recorder, caller, isPromised = false, waitUntil, isUnbatched = false }) => {
    if (waitUntil.aborted) throw networkUnavailable(network.network)
    refuseHopeless(call.deadline)
    return await new Promise((resolve, reject) => {
      const cancel = () => {
        if (queue.remove(outgoing)) outgoing.reject(networkUnavailable(network.network))
      }
      const end = () => waitUntil.removeEventListener('abort', cancel)
      const outgoing: OutgoingCall = {
        call,
        recorder,
        isUnbatched,
        caller,
        isPromised,
        waitUntil,
        resolve: (answer) => {
          end()
          resolve(answer)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      waitUntil.addEventListener('abort', cancel, { once: true })
      queue.add(outgoing)
    })
  }
}
