import { larger, smaller } from '../../abi/words.js'
import type { EvmNetworkSettings } from '../../settings.js'
import { findMedian, type Market } from './market.js'

/** What a transaction may offer per gas, in wei, whatever the nodes report. */
export interface FeeBounds {
  /** Records an observation, and lowers a tip that is too high. */
  apply(market: Market, nowMs: number): Market
  /** The most that is offered. */
  readonly maxFeePerGas: bigint
}

// One observation a minute, of the last hour.
const slotMs = 60_000
const slots = 60
// With fewer, only plausible prices are offered.
const minSlots = 10

// Reported prices above these multiples of the last hour's median are not believed.
const maxOverUsualPrice = 10n
const maxOverUsualBaseFee = 4n
// A tip is paid in full, while of the base fee only the actual one is.
const maxTipOverBaseFee = 2n

interface Observation {
  readonly atMs: number
  readonly baseFee: bigint
  readonly price: bigint
}

/** The operator's limits, or else limits from what was observed over the last hour. */
export const createFeeBounds = ({
  maxFeePerGas,
  maxPriorityFeePerGas,
  plausibleFees,
}: Pick<EvmNetworkSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'plausibleFees'>): FeeBounds => {
  let observed: readonly Observation[] = []

  const observe = (market: Market, atMs: number): void => {
    const last = observed.at(-1)
    if (last !== undefined && Math.abs(atMs - last.atMs) < slotMs) return
    const baseFee = market.type === 'legacy' ? 0n : market.baseFee
    const price = market.type === 'legacy' ? market.gasPrice : market.baseFee + market.tip
    observed = [...observed, { atMs, baseFee, price }].slice(-slots)
  }

  /** Null while too little was observed. */
  const findUsual = (of: 'baseFee' | 'price'): bigint | null =>
    observed.length < minSlots ? null : findMedian(observed.map((each) => each[of]))

  const findMaxTip = (baseFee: bigint): bigint => {
    if (maxPriorityFeePerGas !== null) return maxPriorityFeePerGas
    const usual = findUsual('baseFee')
    const believed = usual === null ? baseFee : smaller(baseFee, usual * maxOverUsualBaseFee)
    return larger(plausibleFees.maxPriorityFeePerGas, believed * maxTipOverBaseFee)
  }

  return {
    get maxFeePerGas() {
      return (
        maxFeePerGas ?? larger(plausibleFees.maxFeePerGas, (findUsual('price') ?? 0n) * maxOverUsualPrice)
      )
    },
    apply: (market, nowMs) => {
      const bounded =
        market.type === 'legacy'
          ? market
          : { ...market, tip: smaller(market.tip, findMaxTip(market.baseFee)) }
      observe(bounded, nowMs)
      return bounded
    },
  }
}
