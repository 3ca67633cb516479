import type { JsonObject } from '../protocol/fields.js'
import type { Reason } from '../protocol/reasons.js'
import type { QuotaCharge } from './quotas.js'

/** `claimed`: nothing was sent. `pending`: signed bytes are recorded and may have been broadcast. */
export type SettlementState = 'claimed' | 'pending' | 'confirmed' | 'failed'

export interface SettlementClaim {
  /** Unique per authorization across chains; contains no signature bytes. */
  readonly authorizationId: string
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** Payer and `payTo` as `Network.normalizeAddress` spells them: one text for each wallet. */
  readonly wallets?: { readonly payer: string; readonly payee: string }
  /** Decimals of an asset whose unit is worth one US dollar; null or absent if its worth is not counted. */
  readonly dollarDecimals?: number | null
  /** Amount that settlement moves, in smallest units: may exceed the required amount; 0 if nothing moves. */
  readonly amount: bigint
  /** Upper bound that the payer signed; equals `amount` unless the scheme settles a part. */
  readonly authorizedAmount: bigint
  /** When the chain starts to reject the authorization; null if it has no such time. */
  readonly expiresAt: Date | null
  /** Input of `Scheme.resolve`: JSON without NUL; opaque to the journal. */
  readonly details: JsonObject
  readonly resource: string | null
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** SHA-256 of the canonical request body; identical for a retry of the same request. */
  readonly fingerprint: string
  /** SHA-256 of the canonical proof, for settlements of accounts; null or absent: only the same body is a retry. */
  readonly proofFingerprint?: string | null
}

/** A claim whose authorization can have a `FundsHold` has it. */
export interface ClaimedHold {
  /** As in `FundsHold`. */
  readonly purpose: string
}

export interface Settlement extends SettlementClaim {
  readonly id: string
  /** The customer of the caller; absent for callers without a key, and in rows of older versions. */
  readonly customer?: string
  readonly state: SettlementState
  /** The transaction that settled it, else the newest recorded one. */
  readonly transaction: string | null
  /** Every transaction recorded for it with its signed bytes, oldest first. */
  readonly broadcasts: readonly SignedTransaction[]
  readonly reason: Reason | null
  /** Null unless confirmed. */
  readonly settledAmount: bigint | null
  /** Gas of the whole transaction, also if it carries a batch; null if the chain reports none. */
  readonly gasUsed: bigint | null
  /** The consumer that was answered `success: true`, or null. Kept when the block is orphaned. */
  readonly consumedBy: string | null
  /** Whether a live instance works on the row. */
  readonly isOwned: boolean
  readonly createdAt: Date
  readonly closedAt: Date | null
  /** The block that contains the payment; null while open, and on chains without reorgs. */
  readonly block: BlockReference | null
  readonly isFinal: boolean
}

/** Another hash at the same height is another block. */
export interface BlockReference {
  readonly number: bigint
  readonly hash: string
}

export interface SignedTransaction {
  readonly transaction: string
  /** Empty once they are dropped, long after the settlement is final. */
  readonly bytes: string
}

/** One signer account of ours on one network, with its own nonce sequence. */
export interface Lane {
  readonly network: string
  readonly signer: string
}

export type Closing =
  | {
      readonly state: 'confirmed'
      /** Empty if the authorization was consumed without a transaction. */
      readonly transaction: string
      /** Smallest units; default: the claimed amount. */
      readonly settledAmount?: bigint
      /** Set if the block can still be orphaned. */
      readonly block?: BlockReference
      readonly gasUsed?: bigint
    }
  | { readonly state: 'failed'; readonly reason: Reason; readonly transaction?: string }

/** Stores the bytes instead of the recorder; resolves once they are durable. */
type WriteBroadcast = () => Promise<void>

/**
 * Makes signed bytes durable before broadcast. Nothing may be sent before `record` resolves, and only the
 * recorded bytes.
 */
export interface Recorder {
  readonly settlementId: string
  /**
   * Resolves once the bytes are durable. Throws if this process no longer owns the claim; then nothing may be
   * sent. Without `write` the recorder stores the bytes itself. `SignerLanes` stores one transaction for many
   * settlements in one database transaction, then calls each recorder with a `write` that is already done.
   */
  record(signed: SignedTransaction, write?: WriteBroadcast): Promise<void>
}

/**
 * Durable record of all settlements. Database constraints decide races: at most one non-failed row per
 * authorization, one consumer per row, one close per row (until its block is orphaned).
 */
export interface SettlementJournal {
  /**
   * Opens a row; returns null if `findOpen` finds one for the authorization, if it is consumed for good, or if a live
   * hold keeps it from the caller. With `hold`, a hold that is placed at the same time either sees the row or prevents it.
   * With `quota`, the row counts against the quota of its caller until it fails. Throws QUOTA_EXCEEDED if the month is used
   * up; then no row is opened.
   */
  claim(
    claim: SettlementClaim,
    quota?: QuotaCharge | null,
    hold?: ClaimedHold | null,
  ): Promise<Settlement | null>
  /** The row of the authorization that has not failed, or that was answered `success: true`. */
  findOpen(authorizationId: string): Promise<Settlement | null>
  /**
   * Whether the authorization has earned its success for good: it was answered, or no reorg can take the payment back.
   * Recorded beside the journal, so that it holds also if the row was changed or lost.
   */
  isConsumed(authorizationId: string): Promise<boolean>
  find(id: string): Promise<Settlement | null>
  /** All settlements of the transaction (a batch has several), oldest first. */
  listByTransaction(network: string, transaction: string): Promise<readonly Settlement[]>
  recorderFor(settlementId: string): Recorder
  /**
   * Closes an open row; returns whether this call closed it. `consumer` is the request that receives the
   * success. If `consumedBy` is set from before a reorg, only that consumer can confirm the row, and only a
   * call without consumer (the reconciler) can fail it. With `newest`, it closes only while that is the newest recorded
   * transaction: a failure that was proven before another one was sent proves nothing about that one.
   */
  close(id: string, closing: Closing, consumer?: string, newest?: string | null): Promise<boolean>
  /** Fails a row without recorded bytes that has no live owner or is owned by this instance. */
  abandon(id: string): Promise<boolean>
  /** Gives up ownership of the row to the reconciler. The caller's webhook gets one pending event per settlement. */
  release(id: string): Promise<void>
  /**
   * Takes ownership of a pending row. Null if it has a live owner, also if that is this process, or if another transaction
   * was recorded since the row was read.
   */
  takeOver(settlement: Pick<Settlement, 'id' | 'transaction'>): Promise<Recorder | null>
  /** Returns true for exactly one consumer, the one that may be answered `success: true`. Idempotent for that one. */
  consume(id: string, consumer: string): Promise<boolean>
  /** Open rows without a live owner, in random order, so that an unreachable network does not starve the others. */
  listOrphaned(limit: number): Promise<readonly Settlement[]>
}

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

/** What only an open settlement needs, and what is kept of it for a while. */
export interface BroadcastRetention {
  /**
   * Deletes signed bytes whose settlements were all closed before that time, and cannot be opened again: a reorg or a resend
   * never misses them. Batches with pauses; `isDone` is false if a next call has more to do.
   */
  dropClosedBefore(
    before: Date,
    stopped: AbortSignal,
  ): Promise<{ readonly dropped: number; readonly isDone: boolean }>
}
