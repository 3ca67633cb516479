import type { TierName } from '../protocol/tiers.js'

/** What an account has used of a month's transactions. */
export interface QuotaUse {
  /** 00:00 UTC on the first of the month that is counted. */
  readonly monthStartsAt: Date
  readonly used: number
}

/** How many settlements an account has begun on one day. */
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

/** A quota as the claim of a settlement carries it. */
export interface QuotaClaim {
  readonly accountId: string
  readonly tier: TierName
}
