import { randomUUID } from 'node:crypto'
import type { Lane, Recorder, SignedTransaction } from '../../src/ports/settlementJournal.js'
import type { LaneTransaction, SignerLanes } from '../../src/ports/signerLanes.js'

/** Numbering for one scheme under test, and recorders that draw from it; in memory, so no settlement outlives it. */
export interface MemoryLanes extends SignerLanes {
  openRecorder(): Recorder
}

interface State {
  next: number
  readonly transactions: LaneTransaction[]
  /** One signature at a time: the number is the next one's only when this one is recorded. */
  last: Promise<unknown>
}

/** Creates lanes that nobody has used. */
export const createMemoryLanes = (): MemoryLanes => {
  const states = new Map<string, State>()
  const stateOf = ({ network, signer }: Lane): State => {
    const key = `${network} ${signer}`
    const state = states.get(key) ?? { next: 0, transactions: [], last: Promise.resolve() }
    states.set(key, state)
    return state
  }

  const recordInLane = (lane: Lane, sign: (nonce: number) => Promise<SignedTransaction>) => {
    const state = stateOf(lane)
    const recorded = state.last.then(async () => {
      const nonce = state.next
      const signed = await sign(nonce)
      state.next = nonce + 1
      state.transactions.push({ ...signed, nonce })
      return signed
    })
    state.last = recorded.catch(() => undefined)
    return recorded
  }

  return {
    advance: async (lane, chainNonce) => {
      const state = stateOf(lane)
      state.next = Math.max(state.next, chainNonce)
    },
    listFrom: async (lane, nonce, limit) =>
      stateOf(lane)
        .transactions.filter((transaction) => transaction.nonce >= nonce)
        .slice(0, limit),
    openRecorder: () => ({ settlementId: randomUUID(), record: async () => {}, recordInLane }),
  }
}
