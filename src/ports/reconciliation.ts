import type {
  CounterName,
  Difference,
  KindCount,
  NightlyRun,
  PeriodTotal,
} from '../protocol/reconciliation.js'
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
  /** The ledger has it, in smallest units, with decimals; null if it has none. */
  readonly fee: string | null
}

export interface RecordQuery extends Period {
  readonly network?: string | undefined
  /** Id of the last settlement of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Differences of one comparison. */
export interface FoundDifferences {
  /** At most 1,000. */
  readonly differences: readonly Difference[]
  /** All of them. */
  readonly counts: readonly KindCount[]
}

export interface ReadLimit {
  readonly timeoutMs: number
  /** Cancels the statement when it aborts. */
  readonly stopped: AbortSignal
}

/** What the nightly job has compared so far: the settlements page by page, then one counter after the other. */
export interface NightlyProgress {
  /** `YYYY-MM-DD`, UTC: the last of the compared days. */
  readonly day: string
  readonly cursor: string | null
  readonly arePagesCompared: boolean
  readonly counted: readonly CounterName[]
  readonly settlements: number
  readonly open: number
  readonly unchecked: number
  /** Events that their webhook had not accepted yet. */
  readonly waiting: number
  readonly counts: readonly KindCount[]
  readonly listed: readonly Difference[]
  readonly isFinished: boolean
}

export interface UnfinishedNightly extends Pick<NightlyProgress, 'day' | 'counts' | 'unchecked'> {
  readonly startedAt: Date
}

export interface ReconciliationStore {
  /** Newest first. Every row is of one snapshot with its events, quota and fee. */
  listSettlements(query: RecordQuery): Promise<readonly RecordedSettlement[]>
  /** Whether the journal has a settlement of the network. */
  hasNetwork(network: string): Promise<boolean>
  /**
   * Compares a counter with a recount, or streams and intents with their settlements, in one snapshot. Reads the whole
   * journal. Null if it was cancelled or took too long.
   */
  findCountDifferences(
    counter: CounterName,
    period: Period,
    limit: ReadLimit,
  ): Promise<FoundDifferences | null>
  /** Null if it was cancelled or took too long. */
  sumPeriod(period: Period, limit: ReadLimit): Promise<readonly PeriodTotal[] | null>
  /** Null if the day was not started. */
  findNightly(day: string): Promise<NightlyProgress | null>
  /** Also ends what `claimCounting` began. Changes nothing once the day is finished. */
  saveNightly(progress: NightlyProgress): Promise<void>
  /** False while another instance counts for this day. */
  claimCounting(day: string, forMs: number): Promise<boolean>
  /** The newest finished one. */
  findLastNightly(): Promise<NightlyRun | null>
  /** Those of days after the newest finished one, oldest first. */
  listUnfinishedNightlies(): Promise<readonly UnfinishedNightly[]>
}
