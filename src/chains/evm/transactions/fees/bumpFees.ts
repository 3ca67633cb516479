import type { Fees } from './fees.js'

interface FeeOffer {
  readonly highest: bigint
  readonly tip: bigint
}

/**
 * The fees with which a stuck transaction is replaced: at least what clients demand over the old ones, and at
 * least the current ones; null when that is above the cap, in wei per gas (null for no cap).
 */
export const bumpFees = (old: Fees, current: Fees, cap: bigint | null): Fees | null => {
  const [before, now] = [readOffer(old), readOffer(current)]
  const tip = larger(raise(before.tip), now.tip)
  const highest = larger(larger(raise(before.highest), now.highest), tip)
  if (cap !== null && highest > cap) return null
  return current.type === 'legacy'
    ? { type: 'legacy', gasPrice: highest }
    : { type: 'eip1559', maxFeePerGas: highest, maxPriorityFeePerGas: tip }
}

/** To a pool, a legacy transaction offers all of its price as tip. */
const readOffer = (fees: Fees): FeeOffer =>
  fees.type === 'legacy'
    ? { highest: fees.gasPrice, tip: fees.gasPrice }
    : { highest: fees.maxFeePerGas, tip: fees.maxPriorityFeePerGas }

// An eighth more, rounded up: geth and its relatives demand a tenth of either price, and a wei more of a zero.
const raise = (price: bigint): bigint => (price === 0n ? 1n : (price * 9n + 7n) / 8n)

const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)
