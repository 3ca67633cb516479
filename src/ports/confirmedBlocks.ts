import type { BlockReference, Settlement } from './settlementJournal.js'

/** A block that contains confirmed payments and is not final yet. */
export interface ConfirmedBlock {
  readonly network: string
  readonly scheme: string
  readonly block: BlockReference
}

export interface ConfirmedBlocks {
  /** Non-final blocks in random order, a share for each network: an unreachable one does not starve the others. */
  list(limit: number): Promise<readonly ConfirmedBlock[]>
  /** Marks the block final; its payments are not checked again. */
  markFinal(block: ConfirmedBlock): Promise<void>
  /**
   * Sets every confirmed payment of an orphaned block back to `pending` for the reconciler, and returns them.
   * `consumedBy` is kept. Idempotent: a second call changes nothing and returns nothing.
   */
  reopen(block: ConfirmedBlock): Promise<readonly Settlement[]>
}
