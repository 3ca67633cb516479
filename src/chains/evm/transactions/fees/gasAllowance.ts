/** How much gas a payment in a batch is given; what it does not use is not paid. */
export interface GasAllowance {
  /** Zero until a transfer that goes alone was estimated. */
  readonly perPayment: bigint
  /** Hears what a plain transfer gets in a transaction of its own: the node's estimate with some room. */
  onEstimate(gas: bigint): void
}

// A first payment to a recipient takes Circle's USDC about 82k in a batch.
const minGasPerPayment = 100_000n
// Every transaction pays this once, so a transfer that goes alone already counts it (yellow paper, appendix G).
const transactionGas = 21_000n

/**
 * Learns from transfers that go alone: some chains count the price of data elsewhere in gas as well, which only an
 * estimate tells, and estimating a whole batch costs the node ten times as much as running it.
 */
export const createGasAllowance = (): GasAllowance => {
  let highest = 0n
  return {
    get perPayment() {
      if (highest === 0n) return 0n
      return highest > minGasPerPayment ? highest : minGasPerPayment
    },
    onEstimate: (gas) => {
      // Falls slowly: a dear hour must not make every batch small for ever.
      highest = gas > highest ? gas : (highest * 63n + gas) / 64n
    },
  }
}

/** The gas of a transaction that carries some payments. */
export const gasForBatch = (perPayment: bigint, payments: number): bigint =>
  transactionGas + perPayment * BigInt(payments)
