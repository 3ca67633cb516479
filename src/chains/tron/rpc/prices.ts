import type { Clock } from '../../../ports/clock.js'
import type { Rpc } from './rpc.js'
import type { Prices } from './wireShapes.js'

// Prices change by a vote of the super representatives, which takes days.
const maxAgeMs = 60_000

export const createPriceCache = (rpc: Rpc, clock: Clock): (() => Promise<Prices>) => {
  let cached: { readonly prices: Promise<Prices>; readonly until: number } | null = null
  return () => {
    const now = clock.now().getTime()
    if (cached !== null && now < cached.until) return cached.prices
    const prices = rpc.getPrices()
    cached = { prices, until: now + maxAgeMs }
    prices.catch(() => {
      cached = null
    })
    return prices
  }
}
