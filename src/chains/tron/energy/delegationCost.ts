import { countDelegationCost } from './energyDelegator.js'

/** What a delegation and the undelegation that follows burn, in sun, at the price of bandwidth that was noted last. */
export interface DelegationCost {
  find(): bigint
  notePrice(bandwidthPrice: number): void
}

// In sun per byte, since 2021; until the first payment is verified.
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
