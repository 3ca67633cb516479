import type { Settlement } from './settlementJournal.js'

/** `status: 'pending'` includes `claimed` rows. */
export interface AccountSettlementFilter {
  readonly accountId: string
  readonly status?: 'pending' | 'confirmed' | 'failed' | undefined
  readonly network?: string | undefined
  /** Inclusive lower bound of `createdAt`. */
  readonly since?: Date | undefined
  /** Settlement id; the page starts after it. Empty page for another account's id. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface AccountSettlement {
  readonly settlement: Settlement
  /** Whole smallest units, rounded up; `0` unless confirmed. The ledger keeps the exact fee. */
  readonly fee: string
}

export interface AccountSettlements {
  /** Newest first; only settlements of the account. */
  list(filter: AccountSettlementFilter): Promise<readonly AccountSettlement[]>
}
