import type { JsonObject } from '../protocol/jsonObject.js'
import type { Reason } from '../protocol/reasons.js'
import type { CountedUse } from './quotas.js'

/** `claimed`: nothing was sent. `pending`: signed bytes are recorded and may have been sent. */
export type SettlementState = 'claimed' | 'pending' | 'confirmed' | 'failed'

/** What is known of a settlement before anything is sent. */
export interface SettlementClaim {
  /** Unique per authorization on every chain; never holds signature bytes. */
  readonly authorizationId: string
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** What settlement will move, in smallest units: may exceed what was asked, and is 0 where nothing moves. */
  readonly amount: bigint
  /** What the payer authorized at most; equals `amount` unless the scheme settles a part. */
  readonly authorizedAmount: bigint
  /** From when on the chain refuses the authorization, where the chain knows such a time. */
  readonly expiresAt: Date | null
  /** What the scheme needs to resolve the settlement, as JSON without NUL; only the scheme reads it. */
  readonly details: JsonObject
  readonly resource: string | null
  /** Whose request it is: an API key's id, or `anonymous`. */
  readonly caller: string
  /** Hash of the canonical request: a retry of the same request has the same one. */
  readonly fingerprint: string
}

/** A row of the journal. */
export interface Settlement extends SettlementClaim {
  readonly id: string
  readonly state: SettlementState
  /** The transaction that settled it, or the newest that was recorded for it. */
  readonly transaction: string | null
  /** Every transaction ever recorded for it, oldest first, with the bytes that were signed. */
  readonly broadcasts: readonly SignedTransaction[]
  readonly reason: Reason | null
  /** What moved; null unless it is confirmed. */
  readonly settledAmount: bigint | null
  /** Gas of the transaction that settled it, all payments of a batch together; null where the chain reports none. */
  readonly gasUsed: bigint | null
  /** Who was told `success: true`; null while nobody was. Stays when the payment's block is taken back. */
  readonly consumedBy: string | null
  /** Whether a living instance works on it. */
  readonly isOwned: boolean
  readonly createdAt: Date
  readonly closedAt: Date | null
  /** Where the payment stands on chain; null while it is open, and where the chain has no such thing. */
  readonly block: BlockReference | null
  /** Whether the block can be taken back no more. */
  readonly isFinal: boolean
}

/** A block as its network names it; another hash at the same height is another block. */
export interface BlockReference {
  readonly number: bigint
  readonly hash: string
}

/** Signed bytes, and the transaction id that they will have on chain. */
export interface SignedTransaction {
  readonly transaction: string
  readonly bytes: string
}

/** One of our own accounts on one network; its transactions are numbered. */
export interface Lane {
  readonly network: string
  readonly signer: string
}

/** How a settlement ended. */
export type Closing =
  | {
      readonly state: 'confirmed'
      /** Empty where the authorization was used up without a transaction. */
      readonly transaction: string
      /** What moved, in smallest units; the claimed amount unless stated. */
      readonly settledAmount?: bigint
      /** Where it was paid, if the network could still take that back. */
      readonly block?: BlockReference
      readonly gasUsed?: bigint
    }
  | { readonly state: 'failed'; readonly reason: Reason; readonly transaction?: string }

/** Stores the bytes in place of a recorder; resolves once they are durable. */
export type WriteBroadcast = () => Promise<void>

/** Writes down what is about to be sent. Nothing leaves before `record` resolves, and nothing but the recorded bytes. */
export interface Recorder {
  readonly settlementId: string
  /**
   * Resolves once the bytes are durable for this settlement. Throws when the claim is no longer ours; then nothing may
   * be sent. Without `write` the recorder stores them itself. `SignerLanes` stores one transaction for many settlements
   * in one database transaction, and passes it to the recorder of each with a `write` that is already done.
   */
  record(signed: SignedTransaction, write?: WriteBroadcast): Promise<void>
}

/**
 * The durable record of every settlement. The database decides every race: at most one row per
 * authorization that is not failed, one consumer per row, one closing (until the payment's block is taken back).
 */
export interface SettlementJournal {
  /**
   * Opens a row, or answers null when the authorization already has one that `findOpen` finds. With a quota the row
   * counts against that of its caller until it fails; throws QUOTA_EXCEEDED when the month has nothing left, and
   * then nothing is opened.
   */
  claim(claim: SettlementClaim, quota?: CountedUse | null): Promise<Settlement | null>
  /** The row of an authorization that is not failed, or for which somebody was told success. */
  findOpen(authorizationId: string): Promise<Settlement | null>
  find(id: string): Promise<Settlement | null>
  /** Whatever a transaction settles, oldest first: a batch carries many. */
  listByTransaction(network: string, transaction: string): Promise<readonly Settlement[]>
  recorderFor(settlementId: string): Recorder
  /**
   * Closes a row that is open and answers whether this call did; a consumer is who is about to be told. Where
   * somebody was told success before the payment's block was taken back, only that one may be told it again, and
   * only the reconciler, who tells nobody, may fail the row.
   */
  close(id: string, closing: Closing, consumer?: string): Promise<boolean>
  /** Fails a row for which nothing was recorded and that nobody living attends, or that we claimed ourselves. */
  abandon(id: string): Promise<boolean>
  /** Leaves a row to the reconciler; the caller's webhook is told once that it is pending, whoever left it. */
  release(id: string): Promise<void>
  /** True for the one consumer who may be told `success: true`, however often that one asks. */
  consume(id: string, consumer: string): Promise<boolean>
  /**
   * Open rows that nobody living attends, in no order: rows of a network that is down for long must not stand
   * before those that can be closed.
   */
  listOrphaned(limit: number): Promise<readonly Settlement[]>
}
