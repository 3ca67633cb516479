import type { Difference, NightlyRun, PeriodTotal } from '../protocol/reconciliation.js'
import type { Settlement } from './settlementJournal.js'

/** Settlements that were opened from `from` on and before `to`. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

/** A settlement beside what other tables recorded of it. */
export interface RecordedSettlement {
  readonly settlement: Settlement
  /** Whether its account is owed an event that cannot have been purged yet. */
  readonly isEventDue: boolean
  /** Event of its last closing; null without one. */
  readonly event: {
    readonly state: 'waiting' | 'delivered' | 'failed' | 'stored'
    readonly status: string
    readonly amount: string
    readonly transaction: string
  } | null
  /** `YYYY-MM`; null if it is not counted against a quota. */
  readonly quotaMonth: string | null
  /** Decimal share of the amount; null: no fee. */
  readonly feeRate: string | null
  /** Of the ledger, in smallest units, with decimals; null if the ledger has none. */
  readonly fee: string | null
}

export interface RecordQuery extends Period {
  readonly network?: string | undefined
  /** Id of the last settlement of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A day that the nightly job compares page by page. */
export interface NightlyProgress {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  readonly cursor: string | null
  readonly settlements: number
  readonly unchecked: number
  readonly differences: number
  readonly listed: readonly Difference[]
  readonly isFinished: boolean
}

export interface ReconciliationStore {
  /** Newest first. Every row is of one snapshot with its events, quota and fee. */
  listSettlements(query: RecordQuery): Promise<readonly RecordedSettlement[]>
  /**
   * Compares what is counted with a recount, and streams and intents with their settlements. Each comparison is of one
   * snapshot. Reads the whole journal.
   */
  findCountDifferences(period: Period): Promise<readonly Difference[]>
  sumPeriod(period: Period): Promise<readonly PeriodTotal[]>
  /** Null if the day was not started. */
  findNightly(day: string): Promise<NightlyProgress | null>
  saveNightly(progress: NightlyProgress): Promise<void>
  /** The newest finished one. */
  findLastNightly(): Promise<NightlyRun | null>
}
