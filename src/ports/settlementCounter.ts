/** Counts what befalls settlements without anyone's request. */
export interface SettlementCounter {
  /** A confirmed payment's block was taken back. */
  countReorged(network: string): void
  /** A payment for which somebody was told success came to nothing. */
  countLost(network: string): void
}
