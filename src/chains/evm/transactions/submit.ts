import type { Hex } from 'viem'
import { sleep } from '../../../concurrency/deadline.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { BatchContract } from './batching/batchContract.js'
import { createCallQueue } from './batching/callQueue.js'
import {
  createSendGroup,
  type Group,
  type OutgoingCall,
  rejectAll,
  type SendingDependencies,
  type Submission,
  type Submitted,
  settlementTooLate,
} from './batching/sendGroup.js'
import { maxInFlight } from './lanes/noncePool.js'
import { canShare, type RevertReason, type SettlementCall } from './settlementCall.js'

/** Records, then sends. Throws only when nothing was recorded; `RevertReason`: why the simulation failed. */
export interface Submit {
  (submission: Submission): Promise<Submitted | RevertReason>
  /** Calls that wait for a place in a transaction. */
  countQueued(): number
}

// Larger batches save little: 51.1k gas per payment at 50, 50.7k at 100 (Circle's USDC).
const maxCallsPerTransaction = 50
const batchWaitMs = 25
// Calls of many parts, such as claims of channels, are in no hurry: one waits for others also when none was sent before.
const partsWaitMs = 500
// Of the time until a transaction is mined: however many instances there are, none waits for longer.
const maxWaitShare = 0.25
// A longer queue means that sending is stalled.
const maxQueueLength = 5_000

/** Milliseconds. Each of several instances sees a part of the calls, and waits longer for as many. */
export const chooseBatchWait = (instances: number, inclusionMs: number): number =>
  Math.max(batchWaitMs, Math.min(batchWaitMs * instances, maxWaitShare * inclusionMs))

/** Calls that wait together share a transaction. */
export const createSubmit = (dependencies: SendingDependencies): Submit => {
  const { network, pool, signers, canPay, deadlineClock, expiryMarginSeconds, countInstances } = dependencies
  const sendCalls = createSendCalls(dependencies)

  const common = {
    maxItems: maxCallsPerTransaction,
    isReady: () => {
      if (pool.countFreeSlots() > 0) return true
      if (signers.addresses.some(canPay)) return false
      throw networkUnavailable(network.network)
    },
    whenChanged: pool.whenSlotFreed,
    send: sendCalls,
    refuse: rejectAll,
  }
  const payments = createCallQueue<OutgoingCall>({
    ...common,
    maxWaitMs: () => chooseBatchWait(countInstances?.() ?? 1, pool.expectInclusionMs()),
  })
  const partitioned = createCallQueue<OutgoingCall>({
    ...common,
    maxWaitMs: () => partsWaitMs,
    waitsWhenIdle: true,
  })
  const countQueued = () => payments.length + partitioned.length

  /** Expected wait for a slot of a call queued now. */
  const expectedWaitMs = (): number => {
    if (pool.countFreeSlots() > 0) return 0
    const lanes = signers.addresses.filter(canPay).length
    const perInclusion = Math.max(1, lanes) * maxInFlight * maxCallsPerTransaction
    const inclusionMs = Math.max(pool.expectInclusionMs(), network.pollIntervalMs)
    return Math.ceil((countQueued() + 1) / perInclusion) * inclusionMs
  }

  const refuseHopeless = (deadline: bigint): void => {
    const nowMs = deadlineClock.now().getTime()
    const waitMs = expectedWaitMs()
    const remainingMs = Number(deadline) * 1_000 - nowMs - expiryMarginSeconds * 1_000
    if (countQueued() < maxQueueLength && waitMs <= remainingMs) return
    throw settlementTooLate(network.network, waitMs)
  }

  const submit = async (submission: Submission): Promise<Submitted | RevertReason> => {
    const { call, waitUntil } = submission
    if (waitUntil.aborted) throw networkUnavailable(network.network)
    refuseHopeless(call.deadline)
    const queue = canShare(call) && call.parts !== undefined ? partitioned : payments
    return await new Promise((resolve, reject) => {
      const cancel = () => {
        if (queue.remove(outgoing)) outgoing.reject(networkUnavailable(network.network))
      }
      const end = () => waitUntil.removeEventListener('abort', cancel)
      const outgoing: OutgoingCall = {
        resolve: (answer) => {
          end()
          resolve(answer)
        },
        reject: (error) => {
          end()
          reject(error)
        },
        ...submission,
      }
      waitUntil.addEventListener('abort', cancel, { once: true })
      queue.add(outgoing)
    })
  }
  return Object.assign(submit, { countQueued })
}

// Delay before a call is retried that fails beside another one of the same payer.
const maxConflictWaitMs = 10_000

/** Uses as few transactions as possible; settles each call separately. Never rejects. */
const createSendCalls = (dependencies: SendingDependencies) => {
  const { receipts, batchContracts } = dependencies
  const sendGroup = createSendGroup(dependencies)

  const sendAfter = async (transaction: Hex | null, outgoing: OutgoingCall): Promise<void> => {
    if (transaction !== null) {
      const policy = { confirmations: 1, isCrossChecked: false }
      const isMined = receipts.wait(transaction, policy, outgoing.waitUntil)
      await Promise.race([isMined, sleep(maxConflictWaitMs, outgoing.waitUntil)])
    }
    await attempt({ calls: [outgoing], contract: null })
  }

  /** Sends the first group, then the others; returns the transaction of the first. */
  const attempt = async ({ calls, contract }: Group): Promise<Hex | null> => {
    try {
      const { transaction, groups, conflicting } = await sendGroup({ calls, contract })
      const [first] = await Promise.all(groups.map((group) => attempt({ calls: group, contract })))
      await Promise.all(conflicting.map((outgoing) => sendAfter(first ?? null, outgoing)))
      return transaction ?? first ?? null
    } catch (error) {
      rejectAll(calls, error)
      return null
    }
  }

  /** What one contract can carry together; the rest alone. */
  const group = async (calls: readonly OutgoingCall[]): Promise<readonly Group[]> => {
    const groups: Group[] = []
    let waiting = calls.filter(isBatched)
    for (const contract of batchContracts) {
      const carried = waiting.filter(({ call }) => mayCarry(contract, call))
      if (carried.length < 2 || !(await contract.isDeployed())) continue
      groups.push({ calls: carried, contract })
      waiting = waiting.filter((each) => !carried.includes(each))
    }
    const alone = calls.filter((each) => waiting.includes(each) || !isBatched(each))
    return [...groups, ...alone.map((outgoing) => ({ calls: [outgoing], contract: null }))]
  }

  return async (calls: readonly OutgoingCall[]): Promise<void> => {
    await Promise.all((await group(calls)).map(attempt))
  }
}

const mayCarry = (contract: BatchContract, call: SettlementCall): boolean =>
  (call.batchedBy === 'any' || call.batchedBy === contract.address) && contract.canCarry(call)

const isBatched = ({ call, isUnbatched }: OutgoingCall): boolean => canShare(call) && isUnbatched !== true
