import type { TierName } from '../protocol/tiers.js'

/** What an account has used of a month's transactions. */
export interface QuotaUse {
  /** 00:00 UTC on the first of the month that is counted. */
  readonly monthStartsAt: Date
  readonly used: number
}

/** How many settlements an account has begun on one day; those that failed do not count, as in its quota. */
export interface DayUse {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string
  readonly count: number
}

/** What accounts have used. The counting itself happens in the journal, in the statement that claims a settlement. */
export interface Quotas {
  readUse(accountId: string, now: Date): Promise<QuotaUse>
  /** The last days up to today, oldest first; days without a settlement are there too. */
  listDays(accountId: string, days: number, now: Date): Promise<readonly DayUse[]>
}

/** Whose quota a request uses; callers without an account have none. */
export interface QuotaClaim {
  readonly accountId: string
  readonly tier: TierName
}

/** How the claim of a settlement counts against the quota of its caller. */
export interface CountedUse {
  readonly tier: TierName
  /** Decides the month. */
  readonly at: Date
}
