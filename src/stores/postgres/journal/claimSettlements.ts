import type { Pool } from 'pg'
import { z } from 'zod'
import type { CountedUse } from '../../../ports/quotas.js'
import type { Settlement, SettlementClaim } from '../../../ports/settlementJournal.js'
import { tiers } from '../../../protocol/tiers.js'
import type { RunTogether } from '../database/coalesce.js'
import { toMonth } from '../database/day.js'
import type { Instance } from '../database/instance.js'
import { withoutNul } from '../database/text.js'
import { claimCounted, claimPlainly } from './claimSql.js'
import { readSettlement } from './settlementRow.js'

/** A claim, and the id that its row will have. */
export interface ClaimFor {
  readonly id: string
  readonly claim: SettlementClaim
  /** Null: it counts against nobody's quota. */
  readonly quota: CountedUse | null
}

/**
 * What came of a claim. `uncounted`: the account has no row for the month yet. `undecided`: another claim of the
 * same statement came before it, and it is to be asked again now that the other one is decided.
 */
export type ClaimAnswer =
  | { readonly state: 'opened'; readonly settlement: Settlement }
  | { readonly state: 'duplicate' | 'exhausted' | 'uncounted' | 'undecided' }

const row = z.object({
  asked_id: z.string(),
  is_opened: z.boolean(),
  is_uncounted: z.boolean(),
  /** Null where no place was asked for. */
  is_granted: z.boolean().nullable(),
  has_room: z.boolean().nullable(),
})

/**
 * Opens rows for several claims; whoever comes second for an authorization gets none. Those that count against one
 * quota get its last places in the order in which they came.
 */
export const claimSettlements =
  (pool: Pool, instance: Instance): RunTogether<ClaimFor, ClaimAnswer> =>
  async (claims) => {
    // Two of one authorization cannot both have a place, and which of them needs one is not known before.
    const first = new Map(claims.toReversed().map((each) => [each.claim.authorizationId, each]))
    const asked = claims.filter((each) => first.get(each.claim.authorizationId) === each)
    const { rows } = await pool.query(
      asked.some(({ quota }) => quota !== null) ? claimCounted : claimPlainly,
      [...columnsOf(asked), instance.id],
    )
    const answers = new Map(rows.map(readAnswer))
    return claims.map((each) => {
      const leader = first.get(each.claim.authorizationId)
      const answer = answers.get(leader?.id ?? '') ?? { state: 'duplicate' }
      if (leader === each) return answer
      return answer.state === 'opened' || answer.state === 'duplicate' ? { state: 'duplicate' } : undecided
    })
  }

const undecided: ClaimAnswer = { state: 'undecided' }

/** A claim's id and what came of it. */
const readAnswer = (value: unknown): readonly [string, ClaimAnswer] => {
  const found = row.parse(value)
  return [
    found.asked_id,
    found.is_opened ? { state: 'opened', settlement: readSettlement(value) } : readRefusal(found),
  ]
}

const readRefusal = (found: z.infer<typeof row>): ClaimAnswer => {
  if (found.is_uncounted) return { state: 'uncounted' }
  if (found.is_granted !== false) return { state: 'duplicate' }
  // A place before it was kept for a claim that turned out to be a duplicate.
  return found.has_room === true ? undecided : { state: 'exhausted' }
}

const columnsOf = (asked: readonly ClaimFor[]): readonly unknown[] => {
  const column = (read: (row: ClaimFor, index: number) => unknown): readonly unknown[] => asked.map(read)
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
    // A stranger's words, and only for people to read.
    column(({ claim }) => (claim.resource === null ? null : withoutNul(claim.resource))),
    column(({ claim }) => toTimestamp(claim.expiresAt)),
    column(({ quota }) => (quota === null ? null : toMonth(quota.at))),
    column(({ quota }) => (quota === null ? null : tiers[quota.tier].feeRate)),
    column(({ quota }) => (quota === null ? null : tiers[quota.tier].monthlyQuota)),
    column((_, index) => index),
    column(({ claim }) => claim.authorizedAmount.toString()),
    column(({ claim }) => JSON.stringify(claim.details)),
  ]
}

// Postgres ends at the year 294276; an authorization that never expires is as good as that.
const latestTimestamp = Date.UTC(9999, 0, 1)

const toTimestamp = (date: Date | null): Date | null =>
  date === null || date.getTime() > latestTimestamp ? null : date
