import type { Clock } from '../../ports/clock.js'
import type { Rpc } from './rpc.js'

/** What a transaction offers for its gas, in wei. */
export type Fees =
  | { readonly type: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

/** The current fees, at most two seconds old. */
export interface FeeOracle {
  read(): Promise<Fees>
}

const freshnessMs = 2_000

// For nodes that do not know eth_maxPriorityFeePerGas.
const fallbackPriorityFee = 1_000_000n

/** Reads fees for one network; concurrent settlements share one answer. */
export const createFeeOracle = (rpc: Rpc, clock: Clock): FeeOracle => {
  let current: { readonly fees: Promise<Fees>; readonly at: number } | null = null

  const ask = async (): Promise<Fees> => {
    const [head, priorityFee] = await Promise.all([
      rpc.getBlock('latest'),
      rpc.getPriorityFee().catch(() => fallbackPriorityFee),
    ])
    const baseFee = head?.baseFeePerGas
    if (baseFee == null) return { type: 'legacy', gasPrice: ((await rpc.getGasPrice()) * 12n) / 10n }
    // Twice the base fee outlives six full blocks in a row; what is not needed is not paid.
    return { type: 'eip1559', maxFeePerGas: baseFee * 2n + priorityFee, maxPriorityFeePerGas: priorityFee }
  }

  return {
    read: async () => {
      const now = clock.now().getTime()
      if (current !== null && now - current.at < freshnessMs) return await current.fees
      const fees = ask()
      const entry = { fees, at: now }
      current = entry
      try {
        return await fees
      } catch (error) {
        if (current === entry) current = null
        throw error
      }
    },
  }
}

/** The highest price per gas, in wei, that the fees allow. */
export const highestGasPrice = (fees: Fees): bigint =>
  fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas
