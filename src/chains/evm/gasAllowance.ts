/** How much gas a payment in a batch is given; what it does not use is not paid. */
export interface GasAllowance {
  /** Zero until a transfer that goes alone was estimated. */
  readonly perPayment: bigint
  /** Hears what the node says that a plain transfer needs in a transaction of its own. */
  noteEstimate(gas: bigint): void
}

// A first payment to a recipient takes Circle's USDC about 82k in a batch.
const leastPerPayment = 100_000n
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
      const roomy = (highest * 13n) / 10n
      return roomy > leastPerPayment ? roomy : leastPerPayment
    },
    noteEstimate: (gas) => {
      // Falls slowly: a dear hour must not make every batch small for ever.
      highest = gas > highest ? gas : (highest * 63n + gas) / 64n
    },
  }
}

/** The gas of a transaction that carries some payments. */
export const gasForBatch = (perPayment: bigint, payments: number): bigint =>
  transactionGas + perPayment * BigInt(payments)
