import type { Fees } from './fees.js'

/** The fees with which nodes accept a replacement: an eighth more than before on everything, and at least today's. */
export const bumpFees = (old: Fees, current: Fees): Fees | null => {
  if (old.type === 'legacy') {
    const today = current.type === 'legacy' ? current.gasPrice : current.maxFeePerGas
    return { type: 'legacy', gasPrice: larger(raise(old.gasPrice), today) }
  }
  if (current.type === 'legacy') return null
  return {
    type: 'eip1559',
    maxFeePerGas: larger(raise(old.maxFeePerGas), current.maxFeePerGas),
    maxPriorityFeePerGas: larger(raise(old.maxPriorityFeePerGas), current.maxPriorityFeePerGas),
  }
}

const raise = (fee: bigint): bigint => (fee * 9n) / 8n + 1n
const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)
