import type { Settlement } from './settlementJournal.js'

/** Which of its settlements an account wants to see. `pending` holds claims too. */
export interface AccountSettlementFilter {
  readonly accountId: string
  readonly status?: 'pending' | 'confirmed' | 'failed' | undefined
  readonly network?: string | undefined
  /** Those that were opened at this time or later. */
  readonly since?: Date | undefined
  /** The id of one of the account's settlements: those that come after it. None come after another's. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A settlement of an account, and what it owes for it. */
export interface AccountSettlement {
  readonly settlement: Settlement
  /** Exact, in smallest units and their decimal fraction; `0` unless it is confirmed. */
  readonly fee: string
}

/** What the journal shows to the owner of an account. */
export interface AccountSettlements {
  /** Only the account's own, the newest first. */
  list(filter: AccountSettlementFilter): Promise<readonly AccountSettlement[]>
}
