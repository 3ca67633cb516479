import type { BlockReference, Settlement } from './settlementJournal.js'

/** A block in which payments are confirmed, and which its network may still take back. */
export interface ConfirmedBlock {
  readonly network: string
  /** One of the schemes that confirmed payments in it. */
  readonly scheme: string
  readonly block: BlockReference
}

/** The blocks that confirmed payments stand in, until they are final. */
export interface ConfirmedBlocks {
  /** Those that are not final, in no order: a network that is down for long must not stand before the others. */
  list(limit: number): Promise<readonly ConfirmedBlock[]>
  /** Says that a block will not be taken back: its payments are not looked at again. */
  markFinal(block: ConfirmedBlock): Promise<void>
  /**
   * Makes every payment of a block that is gone pending again, for the reconciler to find out what became of it,
   * and answers these. Who was told success stays written down. Whoever comes second changes nothing.
   */
  reopen(block: ConfirmedBlock): Promise<readonly Settlement[]>
}
