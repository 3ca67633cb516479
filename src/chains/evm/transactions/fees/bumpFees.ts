import { larger } from '../../abi/words.js'
import type { Fees } from './fees.js'

interface FeeOffer {
  readonly highest: bigint
  readonly tip: bigint
}

/** At least the minimum bump and the current fees; null above the cap (wei per gas; null: no cap). */
export const bumpFees = (old: Fees, current: Fees, cap: bigint | null): Fees | null => {
  const [before, now] = [readOffer(old), readOffer(current)]
  const tip = larger(raise(before.tip), now.tip)
  const highest = larger(larger(raise(before.highest), now.highest), tip)
  if (cap !== null && highest > cap) return null
  return current.type === 'legacy'
    ? { type: 'legacy', gasPrice: highest }
    : { type: 'eip1559', maxFeePerGas: highest, maxPriorityFeePerGas: tip }
}

// A legacy transaction offers its whole price as tip.
const readOffer = (fees: Fees): FeeOffer =>
  fees.type === 'legacy'
    ? { highest: fees.gasPrice, tip: fees.gasPrice }
    : { highest: fees.maxFeePerGas, tip: fees.maxPriorityFeePerGas }

// 12.5 % more, rounded up: geth demands 10 % more of either price, and a wei more than zero.
const raise = (price: bigint): bigint => (price === 0n ? 1n : (price * 9n + 7n) / 8n)
