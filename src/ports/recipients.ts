import type { ClaimDemands } from '../protocol/recipients.js'
import type { Actor } from './accountStore.js'

export interface Recipient {
  /** CAIP-2 identifier. */
  readonly network: string
  /** As `normalizeWith` spells it. */
  readonly payTo: string
}

/** What a recipient has stated about claims on its payments. */
export interface RecipientStatement extends Recipient {
  /** Null: the operator's configuration, without an account. */
  readonly accountId: string | null
  readonly demands: ClaimDemands
}

export interface StoredStatement extends RecipientStatement {
  readonly accountId: string
  readonly statedAt: Date
}

/** One statement per recipient, shared by all instances. */
export interface RecipientStatements {
  find(recipient: Recipient): Promise<StoredStatement | null>
  /** Oldest first. */
  list(accountId: string): Promise<readonly StoredStatement[]>
  /**
   * Replaces the statement of the recipient, whichever account made it: the wallet decides. Null if the account already
   * has `maxStatements` others.
   */
  state(
    statement: Omit<StoredStatement, 'statedAt'>,
    options: { readonly by: Actor; readonly maxStatements: number },
  ): Promise<StoredStatement | null>
  /** False if the account has made none for the recipient. */
  delete(accountId: string, recipient: Recipient, by: Actor): Promise<boolean>
}

/** Whom a payment pays, in what. */
export interface Purse extends Recipient {
  /** As `normalizeWith` spells it. */
  readonly asset: string
}

export interface OfferedAmount extends Purse {
  readonly amount: bigint
  readonly issuedAt: Date
}

/** Amounts of which each belongs to one offer at a time, over all instances: the primary key decides. */
export interface UniqueAmounts {
  /** A free amount above `base`, by at most `maxTail`; null if none is free. */
  issue(request: {
    readonly purse: Purse
    readonly base: bigint
    readonly maxTail: number
    /** SHA-256 of the secret of the offer. */
    readonly digest: Uint8Array
    readonly issuedAt: Date
    readonly expiresAt: Date
  }): Promise<bigint | null>
  /** The offer of the amount; null if it has another secret, or there is none. */
  find(offer: {
    readonly purse: Purse
    readonly amount: bigint
    readonly digest: Uint8Array
  }): Promise<OfferedAmount | null>
  /** Deletes expired offers. */
  purge(stopped?: AbortSignal): Promise<void>
}
