import { randomUUID } from 'node:crypto'
import type { Lane, Recorder } from '../../src/ports/settlementJournal.js'
import type { LaneTransaction, SignerLanes } from '../../src/ports/signerLanes.js'
import type { RecorderHooks } from '../contracts/schemeContract.js'

/** In-memory nonce lanes for one scheme under test, with recorders that draw from them. */
interface MemoryLanes extends SignerLanes {
  openRecorder(onlooker?: RecorderHooks): Recorder
}

interface State {
  next: number
  readonly transactions: LaneTransaction[]
  /** Serializes signing: the next nonce depends on whether this one is recorded. */
  last: Promise<unknown>
}

interface MemoryLanesOptions {
  /** Where another instance has the lease, the maintenance of this one sends nothing. */
  readonly isLeased?: boolean
}

export const createMemoryLanes = ({ isLeased = true }: MemoryLanesOptions = {}): MemoryLanes => {
  const states = new Map<string, State>()
  const keyOf = ({ network, signer }: Lane): string => `${network} ${signer}`
  const stateOf = (lane: Lane): State =>
    states.get(keyOf(lane)) ?? { next: 0, transactions: [], last: Promise.resolve() }

  return {
    advance: async (lane, chainNonce) => {
      const state = stateOf(lane)
      states.set(keyOf(lane), state)
      state.next = Math.max(state.next, chainNonce)
    },
    record: async (lane, recorders, sign) => {
      const state = states.get(keyOf(lane))
      if (state === undefined) throw new Error(`The lane of ${lane.signer} on ${lane.network} is not open`)
      const answer = state.last.then(async () => {
        const nonce = state.next
        const recorded = await sign(nonce)
        let isStored = false
        // One write for all, like one database transaction.
        const write = async () => {
          if (isStored) return
          isStored = true
          state.next = nonce + 1
          state.transactions.push({
            ...recorded,
            nonce,
            recordedAt: new Date(),
            replaced: [],
            urgentShares: [],
          })
        }
        if (recorders.length === 0) await write()
        for (const recorder of recorders) await recorder.record(recorded, write)
        return { recorded }
      })
      state.last = answer.catch(() => undefined)
      return await answer
    },
    replace: async () => null,
    fillNonceGap: async () => null,
    listFrom: async (lane, nonce, limit) =>
      stateOf(lane)
        .transactions.filter((transaction) => transaction.nonce >= nonce)
        .slice(0, limit),
    readNext: async (lane) => stateOf(lane).next,
    rewindNonce: async () => false,
    peekNext: () => null,
    lease: async (_network, signers) => (isLeased ? signers : []),
    openRecorder: (onlooker = {}) => ({
      settlementId: randomUUID(),
      record: async (signed, write) => {
        await onlooker.before?.()
        await write?.()
        await onlooker.after?.(signed)
      },
    }),
  }
}
