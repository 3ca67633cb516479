/** Gas per call of a batch; unused gas is not paid. */
export interface GasAllowance {
  /** Zero until a call that is sent alone was estimated. */
  readonly perCall: bigint
  /** Records a node's estimate, with its margin, for a batchable call in a transaction of its own. */
  onEstimate(gas: bigint): void
}

// A first payment to a recipient takes Circle's USDC about 82k in a batch.
const minGasPerCall = 100_000n
// Every transaction pays this once, so the estimate of a single call includes it (yellow paper, appendix G).
const transactionGas = 21_000n

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
    onEstimate: (gas) => {
      // Decays slowly: one expensive hour must not keep batches small.
      highest = gas > highest ? gas : (highest * 63n + gas) / 64n
    },
  }
}

export const gasForBatch = (perCall: bigint, calls: number): bigint =>
  transactionGas + perCall * BigInt(calls)
