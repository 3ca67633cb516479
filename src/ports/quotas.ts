import type { TierTerms } from '../protocol/tiers.js'

export interface QuotaUse {
  /** 00:00 UTC on the first day of the month. */
  readonly monthStartsAt: Date
  readonly used: number
}

/** Settlements opened by an account on one day; failed ones do not count, as in the quota. */
interface DayUse {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string
  readonly count: number
}

/** Read side of the quotas; `SettlementJournal.claim` does the counting. */
export interface Quotas {
  readUse(customer: string, now: Date): Promise<QuotaUse>
  /** The last `days` days including today, oldest first; days without settlements are included with 0. */
  listDays(accountId: string, days: number, now: Date): Promise<readonly DayUse[]>
}

export interface QuotaClaim {
  readonly accountId: string
  /** The customer whose quota is charged. Default: the account. */
  readonly customer?: string
  readonly tier: TierTerms
}

/** What a claim charges to the quota of its caller. */
export interface QuotaCharge {
  /** Default: the caller. */
  readonly customer?: string
  readonly tier: TierTerms
  readonly at: Date
}
