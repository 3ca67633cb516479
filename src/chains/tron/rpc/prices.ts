import type { Clock } from '../../../ports/clock.js'
import type { TronRpc } from './rpc.js'
import type { Prices } from './wireShapes.js'

// Prices change by a vote of the witnesses, which takes days.
const maxAgeMs = 60_000

/** Reads the network's prices, at most once a minute. */
export const createPriceCache = (node: TronRpc, clock: Clock): (() => Promise<Prices>) => {
  let kept: { readonly prices: Promise<Prices>; readonly until: number } | null = null
  return () => {
    const now = clock.now().getTime()
    if (kept !== null && now < kept.until) return kept.prices
    const prices = node.getPrices()
    kept = { prices, until: now + maxAgeMs }
    prices.catch(() => {
      kept = null
    })
    return prices
  }
}
