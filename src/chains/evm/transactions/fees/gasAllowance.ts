import type { SettlementCall } from '../settlementCall.js'
import { withMargin } from '../simulation/simulate.js'

/** Gas per call of a batch; unused gas is not paid. */
export interface GasAllowance {
  /** Zero until a call that is sent alone was estimated. */
  readonly perCall: bigint
  /** Records the gas limit of a batchable call in a transaction of its own. */
  onLimit(gas: bigint, call: Pick<SettlementCall, 'reorgGas'>): void
}

// A first payment to a recipient takes Circle's USDC about 82k in a batch.
const minGasPerCall = 100_000n
// Every transaction pays this once, so the estimate of a single call includes it (yellow paper, appendix G).
export const transactionGas = 21_000n

/**
 * Learns from single estimates: some chains charge calldata as gas, which only an estimate shows, and
 * estimating a whole batch costs the node ten times as much as running it.
 */
export const createGasAllowance = (): GasAllowance => {
  let highest = 0n
  return {
    get perCall() {
      if (highest === 0n) return 0n
      return highest > minGasPerCall ? highest : minGasPerCall
    },
    onLimit: (limit, { reorgGas }) => {
      const gas = limit - reorgGas
      // Decays slowly: one expensive hour must not keep batches small.
      highest = gas > highest ? gas : (highest * 63n + gas) / 64n
    },
  }
}

/** Each call has `perCall`, which includes the transaction's own gas, and what a reorg can add beyond that. */
export const gasForBatch = (perCall: bigint, calls: readonly Pick<SettlementCall, 'reorgGas'>[]): bigint => {
  const shared = withMargin(transactionGas)
  const more = calls.reduce((sum, { reorgGas }) => sum + (reorgGas > shared ? reorgGas - shared : 0n), 0n)
  return transactionGas + perCall * BigInt(calls.length) + more
}
