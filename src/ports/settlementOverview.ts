import type { Reason } from '../protocol/reasons.js'
import type { Settlement, SettlementState } from './settlementJournal.js'

/** `status: 'pending'` includes `claimed` rows. */
export interface SettlementFilter {
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly network?: string | undefined
  /** Inclusive lower bound of `createdAt`. */
  readonly since?: Date | undefined
  /** Settlement id; the page starts after it, whatever its current status. */
  readonly after?: string | undefined
  readonly limit: number
}

/** `oldestSeconds`: age of the oldest open settlement. */
export interface OpenCount {
  readonly network: string
  readonly state: Extract<SettlementState, 'claimed' | 'pending'>
  readonly count: number
  readonly oldestSeconds: number
}

export interface SettlementOverview {
  /** Newest first. */
  list(filter: SettlementFilter): Promise<readonly Settlement[]>
  /** Omits networks and states without open settlements. Cost is independent of closed settlements. */
  countOpen(): Promise<readonly OpenCount[]>
}

/** `status: 'pending'` includes `claimed` rows. */
export interface AccountSettlementFilter {
  readonly accountId: string
  readonly status?: 'pending' | 'confirmed' | 'failed' | undefined
  readonly network?: string | undefined
  /** Inclusive lower bound of `createdAt`. */
  readonly since?: Date | undefined
  /** Settlement id; the page starts after it. Empty page for another account's id. */
  readonly after?: string | undefined
  /** An id, a transaction or a payer, in any case. Payers are found among the newest `maxSearched` only. */
  readonly search?: string | undefined
  readonly limit: number
}

interface AccountSettlement {
  readonly settlement: Settlement
  /** Whole smallest units, rounded up; `0` unless confirmed. The ledger keeps the exact fee. */
  readonly fee: string
}

export interface AccountSettlements {
  /** Newest first; only settlements of the account. */
  list(filter: AccountSettlementFilter): Promise<readonly AccountSettlement[]>
  /** Of the newest `limit` settlements since then. */
  summarize(query: ActivityQuery): Promise<AccountActivity>
}

interface ActivityQuery {
  readonly accountId: string
  readonly since: Date
  readonly limit: number
}

interface OutcomeCounts {
  readonly confirmed: number
  readonly failed: number
  readonly pending: number
}

interface Outcomes extends OutcomeCounts {
  /** Median time from the request to the proof, of those that are confirmed; null without one. */
  readonly medianSeconds: number | null
}

/** By the time at which settlements were created. */
export interface AccountActivity extends Outcomes {
  /** False: there are more than `limit`. */
  readonly isComplete: boolean
  readonly networks: readonly (Outcomes & { readonly network: string })[]
  /** What was settled, in smallest units. */
  readonly amounts: readonly { readonly network: string; readonly asset: string; readonly amount: string }[]
  /** Hours with settlements, oldest first. */
  readonly buckets: readonly (OutcomeCounts & { readonly at: Date; readonly network: string })[]
}

export interface SponsoringQuery {
  /** CAIP-2 identifier. */
  readonly network: string
  /** As `normalizeWith` spells it. */
  readonly payer: string
  /** As `normalizeWith` spells it; null: the recipient does not matter. */
  readonly payTo: string | null
  /** Failures with these reasons count. */
  readonly reasons: readonly Reason[]
  readonly since: Date
}

export interface SponsoringRecord {
  /** A payment to the recipient is confirmed on the network. False without a recipient. */
  readonly hasRecipientSettled: boolean
  /**
   * More sponsored payments of the payer were sent and closed as failed, for one of the reasons, after `since`, than were
   * confirmed after it; 20 failures are too many in any case.
   */
  readonly hasPayerFailed: boolean
}

/** What the journal says of the parties of a payment that the facilitator would pay for. */
export interface SponsoringHistory {
  read(query: SponsoringQuery): Promise<SponsoringRecord>
}

export interface SettlementCounter {
  /** The block of a confirmed payment was orphaned. */
  countReorged(network: string): void
  /** A payment that was answered `success: true` was lost in a reorg. */
  countLost(network: string): void
}
