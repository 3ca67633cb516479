import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { QuotaCharge } from '../../../ports/quotas.js'
import type { ClaimedHold, Settlement, SettlementClaim } from '../../../ports/settlementJournal.js'
import type { RunBatch } from '../database/coalesce.js'
import { isLockTimeout, isUniqueViolation } from '../database/databaseErrors.js'
import type { Instance } from '../database/instance.js'
import { type PlannedStatement, planStatement } from '../database/plannedStatement.js'
import { inTransaction, queryPlanned, toMonth, withoutNul } from '../database/statements.js'
import { hasEnded, takenBy } from '../holds/holdRules.js'
import { readSettlement, settlementColumns } from './settlementRow.js'
import { takesAuthorization, takesAuthorizationAsInserted } from './settlementStates.js'

interface ClaimRequest {
  readonly id: string
  readonly claim: SettlementClaim
  /** Null: not counted against a quota. */
  readonly quota: QuotaCharge | null
  /** Null: no authorization of its kind can be held. */
  readonly hold: ClaimedHold | null
}

/** `held`: from this caller, or another request decides on it. `uncounted`: the month's quota row is missing. `undecided`: depends on an earlier claim; retry. */
type ClaimResult =
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
 * One row per authorization: the first claim in the batch gets it. Quotas are used in order of arrival. Where the lock of one
 * authorization is not free within a second, those that are not free at that time are held, and the others are claimed
 * without them.
 */
export const claimSettlements = (pool: Pool, instance: Instance): RunBatch<ClaimRequest, ClaimResult> => {
  const claimOnce: RunBatch<ClaimRequest, ClaimResult> = async (claims, endsAt) => {
    try {
      return await claimTogether(instance, claims, (planned, values) => queryPlanned(pool, planned, values))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      return await inTransaction(pool, (client) => claimFree(client, instance, claims), { endsAt })
    }
  }
  return async (claims, endsAt) => {
    try {
      return await claimOnce(claims, endsAt)
    } catch (error) {
      // `on conflict` considers valid indexes only. While the unique index is built again (`reindex concurrently`), the new one
      // already refuses the loser of a race. The winner is committed then: the old one finds it, and the claim is a duplicate.
      if (!isUniqueViolation(error)) throw error
      return await claimOnce(claims, endsAt)
    }
  }
}

// The locks of `find_holds`, which the claim takes again. Here none is waited for.
const tryLocks = `select id from unnest($1::text[]) as l (id) where pg_try_advisory_xact_lock(hashtextextended(id, 13))`
const lockedRow = z.object({ id: z.string() })

const claimFree = async (
  client: PoolClient,
  instance: Instance,
  claims: readonly ClaimRequest[],
): Promise<readonly ClaimResult[]> => {
  const held = claims.filter(({ hold }) => hold !== null).map(({ claim }) => claim.authorizationId)
  const { rows } = await client.query(tryLocks, [[...new Set(held)]])
  const locked = new Set(rows.map((value) => lockedRow.parse(value).id))
  const runFree: Run = async ({ text }, values) => (await client.query(text, [...values])).rows
  const free = claims.filter(({ claim, hold }) => hold === null || locked.has(claim.authorizationId))
  const results = free.length === 0 ? [] : await claimTogether(instance, free, runFree)
  const byClaim = new Map(free.map((each, index) => [each, results[index]]))
  return claims.map((each) => byClaim.get(each) ?? { state: 'held' })
}

type Run = (statement: PlannedStatement, values: readonly unknown[]) => Promise<readonly unknown[]>

const claimTogether = async (
  instance: Instance,
  claims: readonly ClaimRequest[],
  run: Run,
): Promise<readonly ClaimResult[]> => {
  const first = new Map(claims.toReversed().map((each) => [each.claim.authorizationId, each]))
  const distinct = claims.filter((each) => first.get(each.claim.authorizationId) === each)
  const rows = await run(distinct.some(({ quota }) => quota !== null) ? claimWithQuota : claimWithoutQuota, [
    ...columnsOf(distinct),
    instance.id,
    distinct.map(readCustomer),
    distinct.map(({ claim }) => claim.proofFingerprint ?? null),
    distinct.map(({ claim }) => claim.wallets?.payer ?? null),
    distinct.map(({ claim }) => claim.wallets?.payee ?? null),
    distinct.map(({ claim }) => claim.dollarDecimals ?? null),
    distinct.map(({ hold }) => hold?.purpose ?? 'settle'),
    distinct.filter(({ hold }) => hold !== null).map(({ claim }) => claim.authorizationId),
  ])
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
    // The text is untrusted, and for display only.
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

const readCustomer = ({ claim, quota }: ClaimRequest): string | null =>
  quota === null ? null : (quota.customer ?? claim.caller)

// Postgres timestamps end in the year 294276; an expiry after 9999 is stored as none.
const latestTimestamp = Date.UTC(9999, 0, 1)

const toTimestamp = (date: Date | null): Date | null =>
  date === null || date.getTime() > latestTimestamp ? null : date

/** As `sharedOutcome` or `renewableOutcome`: what a reorg took back can be asked for again. */
export const isRenewable = (row: string): string =>
  `coalesce(${row}.details ->> 'isShared' = 'true' or ${row}.details ->> 'isRenewable' = 'true', false)`

const claims = `claims as (
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::numeric[], $11::text[], $12::timestamptz[], $13::date[], $14::numeric[],
    $15::bigint[], $16::integer[], $17::numeric[], $18::jsonb[], $20::text[], $21::text[],
    $22::text[], $23::text[], $24::smallint[], $25::text[]) as c (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
      pay_to, amount, resource, expires_at, quota_month, fee_rate, quota_limit, arrival, authorized_amount, details, quota_holder, proof_fingerprint,
      payer_wallet, payee_wallet, dollar_decimals, holder)
), holds as (
  select * from find_holds($2::text[], $26::text[])
), held as (
  select c.id from claims c join holds h using (authorization_id)
  where not ${hasEnded('h')}
    and ${takenBy('h', { account: 'c.caller', purpose: 'c.holder', asset: 'c.asset', payTo: 'c.pay_to' })} is not null
), consumed as (
  select c.id from claims c
  where exists (select from consumed_authorizations d where d.digest = digest_authorization(c.authorization_id))
    and not ${isRenewable('c')}
)`

// The digest refuses also what has no row any more: one that was changed, deleted, or lost with a restored backup.
const isFree = 'a.id not in (select id from held) and a.id not in (select id from consumed)'

// Inserted in one global order, so that concurrent statements cannot deadlock.
const opened = (source: string): string => `opened as (
  insert into settlements as s (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
    pay_to, amount, resource, expires_at, quota_month, fee_rate, authorized_amount, details, quota_holder, proof_fingerprint,
    payer_wallet, payee_wallet, dollar_decimals, state, owner)
  select a.id, a.authorization_id, a.caller, a.fingerprint, a.scheme, a.network, a.asset, a.payer, a.pay_to,
    a.amount, a.resource, a.expires_at, a.quota_month, a.fee_rate,
    a.authorized_amount, a.details, a.quota_holder, a.proof_fingerprint, a.payer_wallet, a.payee_wallet,
    a.dollar_decimals, 'claimed', $19
  from ${source} order by a.authorization_id collate "C"
  on conflict (authorization_id) where ${takesAuthorizationAsInserted} do nothing
  returning ${settlementColumns}, s.quota_month
)`

/** Returns a result per claim. */
const claimWithoutQuota = planStatement(`/* claim */
  with ${claims}, ${opened(`claims a where ${isFree}`)}
  select a.id as claim_id, o.id is not null as is_opened, false as is_uncounted, a.id in (select id from held) as is_held,
    null as is_granted, null as has_quota_left, o.*
  from claims a left join opened o on o.id = a.id`)

/** Returns a result per claim. Locks authorizations, then quota rows, then settlements, as closing does (no deadlocks). */
const claimWithQuota = planStatement(`/* claim */
  with ${claims}, quotas as (
    select q.account_id, q.month, q.used from quota_uses q
    where (q.account_id, q.month) in (select quota_holder, quota_month from claims where quota_month is not null)
      and (select count(*) from holds) >= 0
    order by q.account_id, q.month for update
  ), slots as (
    select a.id, a.quota_limit < 0
      or q.used + row_number() over (partition by a.quota_holder, a.quota_month order by a.arrival) <= a.quota_limit
      as is_granted
    from claims a join quotas q on q.account_id = a.quota_holder and q.month = a.quota_month
    where not exists (select 1 from settlements s
      where s.authorization_id = a.authorization_id and ${takesAuthorization('s')})
      and ${isFree}
  ), ${opened(`claims a left join slots p using (id) where (a.quota_month is null or p.is_granted) and ${isFree}`)}, counts as (
    select customer as quota_holder, quota_month, count(*) as count from opened where quota_month is not null
    group by customer, quota_month
  ), counted as (
    update quota_uses q set used = q.used + c.count from counts c
    where q.account_id = c.quota_holder and q.month = c.quota_month
  )
  select a.id as claim_id, o.id is not null as is_opened, a.quota_month is not null and q.month is null as is_uncounted,
    a.id in (select id from held) as is_held, p.is_granted, q.used + coalesce(c.count, 0) < a.quota_limit as has_quota_left, o.*
  from claims a left join quotas q on q.account_id = a.quota_holder and q.month = a.quota_month
    left join counts c on c.quota_holder = a.quota_holder and c.quota_month = a.quota_month
    left join slots p on p.id = a.id left join opened o on o.id = a.id`)
