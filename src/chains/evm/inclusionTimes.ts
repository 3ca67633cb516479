import type { Hex } from 'viem'
import type { LanePool } from './lanePool.js'

/** How long transactions of one network take until they are mined. */
export interface InclusionTimes {
  /** A typical time, in milliseconds; zero until one was seen. */
  readonly typicalMs: number
  noteSent(transaction: Hex, place: { readonly address: Hex; readonly nonce: number }): void
  noteMined(transaction: Hex): void
}

// What is not mined after so many others were sent is the business of whoever looks after the lane.
const maxRemembered = 1_000
const weightOfNewest = 0.2

/** Measures inclusion, and tells the lanes which of their places are free again. */
export const createInclusionTimes = (pool: Pick<LanePool, 'noteMined'>): InclusionTimes => {
  const sent = new Map<Hex, { readonly address: Hex; readonly nonce: number; readonly at: number }>()
  let typicalMs = 0
  return {
    get typicalMs() {
      return typicalMs
    },
    noteSent: (transaction, place) => {
      const [oldest] = sent.keys()
      if (sent.size >= maxRemembered && oldest !== undefined) sent.delete(oldest)
      sent.set(transaction, { ...place, at: performance.now() })
    },
    noteMined: (transaction) => {
      const found = sent.get(transaction)
      if (found === undefined) return
      sent.delete(transaction)
      const tookMs = performance.now() - found.at
      typicalMs = typicalMs === 0 ? tookMs : typicalMs + weightOfNewest * (tookMs - typicalMs)
      pool.noteMined(found.address, found.nonce)
    },
  }
}
