import type { Lane, Recorder, SignedTransaction } from './settlementJournal.js'

/** A recorded transaction of a lane. */
export interface LaneTransaction extends SignedTransaction {
  readonly nonce: number
  /** When its number was drawn; replacements have times of their own. */
  readonly recordedAt: Date
  /** Transactions that it replaced: one of all of them at most is ever mined. */
  readonly replaced: readonly string[]
}

/** Signs for the number that was drawn. Takes long only at the expense of everyone who uses the lane. */
export type SignNumbered = (nonce: number) => Promise<SignedTransaction>

/** What came of recording. `lost`: settlements that are no longer ours; then nothing was recorded for any. */
export type RecordResult = { readonly recorded: SignedTransaction } | { readonly lost: readonly string[] }

/** The numbering of our own transactions: one durable row per (network, signer), shared by every instance. */
export interface SignerLanes {
  /** Makes the lane known and moves it forward to what the chain has already used; never backward. */
  advance(lane: Lane, chainNonce: number): Promise<void>
  /**
   * Draws the lane's next number, signs, and stores the bytes with every settlement that they carry, all or nothing;
   * then passes them to each recorder as stored. Without recorders: a transaction that only fills a gap.
   */
  record(lane: Lane, recorders: readonly Recorder[], sign: SignNumbered): Promise<RecordResult>
  /**
   * Stores other bytes for the number of a recorded transaction, for all that it carries. Null unless this
   * instance looks after the lane and the transaction is still the newest with its number.
   */
  replace(lane: Lane, replaced: LaneTransaction, sign: SignNumbered): Promise<SignedTransaction | null>
  /** Records a transaction that carries nothing for a number that was drawn and that no bytes have. */
  fillNonceGap(lane: Lane, nonce: number, sign: SignNumbered): Promise<SignedTransaction | null>
  /** The newest recorded transaction of each number from one on, in order: what a gap in the pool is filled with. */
  listFrom(lane: Lane, nonce: number, limit: number): Promise<readonly LaneTransaction[]>
  /** The number that the lane's next transaction takes. */
  readNext(lane: Lane): Promise<number>
  /**
   * Moves a lane back to what the chain has used, where nothing is recorded from there on: a node that told too
   * high a number left a gap that no bytes can fill.
   */
  rewindNonce(lane: Lane, chainNonce: number): Promise<boolean>
  /**
   * Takes on, renews and gives up the care for a network's lanes, so that every living instance has its share, and
   * answers which are ours. Whose holder has died is taken over when its lease ends.
   */
  lease(network: string, signers: readonly string[]): Promise<readonly string[]>
}
