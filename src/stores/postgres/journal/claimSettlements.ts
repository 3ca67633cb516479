import { DatabaseError, type Pool } from 'pg'
import { z } from 'zod'
import type { QuotaCharge } from '../../../ports/quotas.js'
import type { ClaimedHold, Settlement, SettlementClaim } from '../../../ports/settlementJournal.js'
import type { RunBatch } from '../database/coalesce.js'
import { toMonth } from '../database/day.js'
import type { Instance } from '../database/instance.js'
import { withoutNul } from '../database/text.js'
import { claimWithoutQuota, claimWithQuota } from './claimSql.js'
import { readSettlement } from './settlementRow.js'

export interface ClaimRequest {
  readonly id: string
  readonly claim: SettlementClaim
  /** Null: not counted against a quota. */
  readonly quota: QuotaCharge | null
  /** Null: no authorization of its kind can be held. */
  readonly hold: ClaimedHold | null
}

/** `held`: from this caller, or another request decides on it. `uncounted`: the month's quota row is missing. `undecided`: depends on an earlier claim; retry. */
export type ClaimResult =
  | { readonly state: 'opened'; readonly settlement: Settlement }
  | { readonly state: 'duplicate' | 'held' | 'exhausted' | 'uncounted' | 'undecided' }

const row = z.object({
  claim_id: z.string(),
  is_opened: z.boolean(),
  is_uncounted: z.boolean(),
  is_held: z.boolean(),
  /** Null: not counted against a quota. */
  is_granted: z.boolean().nullable(),
  has_quota_left: z.boolean().nullable(),
})

/**
 * One row per authorization: the first claim in the batch gets it. Quotas are used in order of arrival. Rejects when the lock
 * of one authorization is not free within a second, so that the others are claimed alone.
 */
export const claimSettlements = (pool: Pool, instance: Instance): RunBatch<ClaimRequest, ClaimResult> => {
  const claim = claimTogether(pool, instance)
  return async (claims) => {
    try {
      return await claim(claims)
    } catch (error) {
      const isLocked = error instanceof DatabaseError && error.code === lockNotAvailable
      if (isLocked && claims.length === 1) return [{ state: 'held' }]
      throw error
    }
  }
}

const lockNotAvailable = '55P03'

const claimTogether =
  (pool: Pool, instance: Instance): RunBatch<ClaimRequest, ClaimResult> =>
  async (claims) => {
    const first = new Map(claims.toReversed().map((each) => [each.claim.authorizationId, each]))
    const distinct = claims.filter((each) => first.get(each.claim.authorizationId) === each)
    const { rows } = await pool.query(
      distinct.some(({ quota }) => quota !== null) ? claimWithQuota : claimWithoutQuota,
      [
        ...columnsOf(distinct),
        instance.id,
        distinct.map(readQuotaHolder),
        distinct.map(({ claim }) => claim.proofFingerprint ?? null),
        distinct.map(({ claim }) => claim.wallets?.payer ?? null),
        distinct.map(({ claim }) => claim.wallets?.payee ?? null),
        distinct.map(({ claim }) => claim.dollarDecimals ?? null),
        distinct.map(({ hold }) => hold?.holder ?? 'settle'),
        distinct.filter(({ hold }) => hold !== null).map(({ claim }) => claim.authorizationId),
      ],
    )
    const answers = new Map(rows.map(readResult))
    return claims.map((each) => {
      const leader = first.get(each.claim.authorizationId)
      const answer = answers.get(leader?.id ?? '') ?? { state: 'duplicate' }
      if (leader === each) return answer
      return answer.state === 'opened' || answer.state === 'duplicate' ? { state: 'duplicate' } : undecided
    })
  }

const undecided: ClaimResult = { state: 'undecided' }

const readResult = (value: unknown): readonly [string, ClaimResult] => {
  const found = row.parse(value)
  return [
    found.claim_id,
    found.is_opened ? { state: 'opened', settlement: readSettlement(value) } : readRefusal(found),
  ]
}

const readRefusal = (found: z.infer<typeof row>): ClaimResult => {
  if (found.is_held) return { state: 'held' }
  if (found.is_uncounted) return { state: 'uncounted' }
  if (found.is_granted !== false) return { state: 'duplicate' }
  // Quota was reserved for an earlier claim that turned out to be a duplicate.
  return found.has_quota_left === true ? undecided : { state: 'exhausted' }
}

const columnsOf = (claims: readonly ClaimRequest[]): readonly unknown[] => {
  const column = (read: (row: ClaimRequest, index: number) => unknown): readonly unknown[] => claims.map(read)
  return [
    column(({ id }) => id),
    column(({ claim }) => claim.authorizationId),
    column(({ claim }) => claim.caller),
    column(({ claim }) => claim.fingerprint),
    column(({ claim }) => claim.scheme),
    column(({ claim }) => claim.network),
    column(({ claim }) => claim.asset),
    column(({ claim }) => claim.payer),
    column(({ claim }) => claim.payTo),
    column(({ claim }) => claim.amount.toString()),
    // Untrusted text, for display only.
    column(({ claim }) => (claim.resource === null ? null : withoutNul(claim.resource))),
    column(({ claim }) => toTimestamp(claim.expiresAt)),
    column(({ quota }) => (quota === null ? null : toMonth(quota.at))),
    column(({ quota }) => (quota === null ? null : quota.tier.feeRate)),
    column(({ quota }) => (quota === null ? null : quota.tier.monthlyQuota)),
    column((_, index) => index),
    column(({ claim }) => claim.authorizedAmount.toString()),
    column(({ claim }) => JSON.stringify(claim.details)),
  ]
}

const readQuotaHolder = ({ claim, quota }: ClaimRequest): string | null =>
  quota === null ? null : (quota.holder ?? claim.caller)

// Postgres timestamps end in the year 294276; an expiry after 9999 is stored as none.
const latestTimestamp = Date.UTC(9999, 0, 1)

const toTimestamp = (date: Date | null): Date | null =>
  date === null || date.getTime() > latestTimestamp ? null : date
