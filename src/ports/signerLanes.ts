import type { Lane, Recorder, SignedTransaction } from './settlementJournal.js'

/** The part of a transaction, above 0 and 1 at most, that is urgent for an account. */
export interface UrgentShare {
  readonly account: string
  readonly share: number
}

export interface LaneTransaction extends SignedTransaction {
  readonly nonce: number
  /** When the nonce was allocated; a replacement has its own time. */
  readonly recordedAt: Date
  /** Earlier transactions with the same nonce; at most one of all is mined. */
  readonly replaced: readonly string[]
  /** These accounts pay first for a replacement, from what is kept for urgent work. Without any, maintenance pays. */
  readonly urgentShares: readonly UrgentShare[]
}

/** Runs inside the transaction that locks the lane: keep it fast. */
export type SignNumbered = (nonce: number) => Promise<SignedTransaction>

/** `lost`: settlements that this process no longer owns; then nothing was recorded for any. */
export type RecordResult = { readonly recorded: SignedTransaction } | { readonly lost: readonly string[] }

/** Nonce allocation: one durable row per (network, signer), shared by all instances. */
export interface SignerLanes {
  /** Creates the lane if needed and raises its next nonce to the chain's nonce; never lowers it. */
  advance(lane: Lane, chainNonce: number): Promise<void>
  /**
   * Allocates the next nonce, signs, and stores the bytes with every settlement they carry, all or nothing;
   * then passes them to each recorder as stored. No recorders: a transaction that only fills a nonce gap.
   */
  record(
    lane: Lane,
    recorders: readonly Recorder[],
    sign: SignNumbered,
    urgentShares?: readonly UrgentShare[],
  ): Promise<RecordResult>
  /**
   * Stores replacement bytes for the nonce of a recorded transaction, for all its settlements. Returns null
   * unless this instance holds the lane's lease and the transaction is the newest with its nonce.
   */
  replace(lane: Lane, replaced: LaneTransaction, sign: SignNumbered): Promise<SignedTransaction | null>
  /** Records an empty transaction for an allocated nonce. Null if the nonce has bytes already or is not allocated. */
  fillNonceGap(lane: Lane, nonce: number, sign: SignNumbered): Promise<SignedTransaction | null>
  /** The newest recorded transaction of each nonce from `nonce` on, ascending. */
  listFrom(lane: Lane, nonce: number, limit: number): Promise<readonly LaneTransaction[]>
  /** The nonce of the lane's next transaction. */
  readNext(lane: Lane): Promise<number>
  /** As it was some seconds ago, without asking the database; null: not known. */
  peekNext(lane: Lane): number | null
  /**
   * Lowers the next nonce to the chain's nonce if nothing is recorded from there on, or within `reach`: repairs a lane
   * that a wrong node response advanced too far. What is recorded further away leaves the lane, never where it settled a
   * payment. Returns whether it was lowered.
   */
  rewindNonce(lane: Lane, chainNonce: number, reach?: number): Promise<boolean>
  /**
   * Acquires, renews and releases leases so that live instances share the network's lanes; returns the signers
   * this instance holds. The lease of a dead instance is taken over after it expires.
   */
  lease(network: string, signers: readonly string[]): Promise<readonly string[]>
}
