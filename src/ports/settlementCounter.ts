export interface SettlementCounter {
  /** The block of a confirmed payment was orphaned. */
  countReorged(network: string): void
  /** A payment that was answered `success: true` was lost in a reorg. */
  countLost(network: string): void
}
