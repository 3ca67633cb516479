import type { Clock } from '../../../ports/clock.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Prices } from '../rpc/wireShapes.js'

/** A transfer of USDT to a holder of some. */
export const typicalEnergyPerPayment = 65_000

// Upper bound of a delegation or an undelegation with its result.
const delegationBytes = 300

/** Upper bound in sun of what delegations and undelegations burn; the energy itself comes back. */
export const countDelegationCost = (transactions: number, bandwidthPrice: number): number =>
  transactions * delegationBytes * bandwidthPrice

/** What a delegation and the undelegation that follows burn, in sun, at the price of bandwidth that was noted last. */
export interface DelegationCost {
  find(): bigint
  notePrice(bandwidthPrice: number): void
}

// The price has been this many sun per byte since 2021; it counts until the first payment is verified.
const usualBandwidthPrice = 1_000

export const createDelegationCost = (): DelegationCost => {
  let price = usualBandwidthPrice
  return {
    find: () => BigInt(countDelegationCost(2, price)),
    notePrice: (bandwidthPrice) => {
      price = bandwidthPrice
    },
  }
}

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
