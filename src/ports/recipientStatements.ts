import type { ClaimDemands } from '../protocol/recipients.js'
import type { Actor } from './auditLog.js'

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
