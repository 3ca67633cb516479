import type { Pool } from 'pg'
import { z } from 'zod'
import type {
  AccountActivity,
  AccountSettlementFilter,
  AccountSettlements,
} from '../../../ports/settlementOverview.js'
import { hasNul } from '../database/statements.js'
import { newestSettlements, type SettlementPart } from './settlementOverview.js'
import { readSettlement, settlementColumns } from './settlementRow.js'
import { isClosedAs, isOpen, newestTransaction } from './settlementStates.js'

const feeRow = z.object({ fee: z.string() })

const partsOf = (status: AccountSettlementFilter['status']): readonly SettlementPart[] => {
  switch (status) {
    case undefined:
      return ['open', 'confirmed', 'failed']
    case 'pending':
      return ['open']
    case 'confirmed':
    case 'failed':
      return [status]
  }
}

const isOfStatus = (status: NonNullable<AccountSettlementFilter['status']>): string =>
  status === 'pending' ? isOpen('s') : isClosedAs('s', status)

// `caller <> 'anonymous'` matches the partial index.
const scope = "s.caller = $1 and s.caller <> 'anonymous'"

/**
 * No index names the payers of an account: one more would be written with every settlement. With more rows Postgres expects
 * so much work that it compiles the statement (`jit_above_cost`), which takes longer than the search.
 */
const maxSearched = 1_000

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** By primary key: nothing else is named like this. */
const byId = (conditions: string): string => `
  found as (
    select s.id, s.created_at from settlements s where s.id = $6::uuid and ${scope} and ${conditions})`

const isSearched = (transaction: string): string => `${transaction} in ($6, lower($6), upper($6))`

/**
 * Searches by the index of transactions, once for each network of the account. What is open may have its transactions listed
 * in `broadcast_settlements` alone. Payers are looked for only where no transaction is found: with them the cost is that of
 * `page`. A subquery with a limit and an array, because joins may be planned as scans of the journal.
 */
const byTransactionOrPayer = (page: string, conditions: string): string => `${page}, sent as materialized (
    select f.id, f.created_at from networks n cross join lateral (
      select s.id, s.created_at from settlements s
      where s.network = n.network and ${isSearched('s.transaction')} and ${scope} and ${conditions}
      order by s.created_at desc, s.id desc limit $5) f
    union all
    select f.id, f.created_at from networks n cross join lateral (
      select s.id, s.created_at from settlements s
      where s.id = any(array(select c.settlement_id from broadcast_settlements c
          where c.network = n.network and ${isSearched('c.transaction')}))
        and s.transaction is null and ${isSearched(newestTransaction('s'))} and ${scope} and ${conditions}
      order by s.created_at desc, s.id desc limit $5) f
  ), found as (
    select id, created_at from sent
    union all
    select s.id, s.created_at from settlements s
    where s.id = any(array(select id from page)) and lower(s.payer) = lower($6) and not exists (select from sent))`

export const createAccountSettlements = (pool: Pool): AccountSettlements => ({
  list: async ({ accountId, status, network, since, after, search, limit }) => {
    const isSearch = search !== undefined
    // No text of the database has it.
    if (hasNul(search ?? '') || hasNul(network ?? '')) return []
    // The cursor is an id: a Date would lose microseconds.
    const bounds = `($2::text is null or s.network = $2) and ($3::timestamptz is null or s.created_at >= $3)
        and ($4::uuid is null or (s.created_at, s.id) < (
          (select created_at from settlements where id = $4 and caller = $1), $4))`
    const page = newestSettlements({
      scope,
      parts: partsOf(status),
      network: network === undefined ? null : '$2',
      bounds,
      limit: isSearch ? `${maxSearched}` : '$5',
    })
    const conditions = status === undefined ? bounds : `${bounds} and ${isOfStatus(status)}`
    const source = !isSearch
      ? page
      : idForm.test(search)
        ? byId(conditions)
        : byTransactionOrPayer(page, conditions)
    const { rows } = await pool.query(
      `/* find */ with recursive ${source}
       select ${settlementColumns}, coalesce(
           (select ceil(f.fee) from fee_ledger f where f.settlement_id = s.id), 0)::text as fee
       from (select id, created_at from ${isSearch ? 'found' : 'page'} order by created_at desc, id desc limit $5) as listed
         join settlements s on s.id = listed.id
       order by listed.created_at desc, listed.id desc limit $5`,
      [accountId, network ?? null, since ?? null, after ?? null, limit, ...(isSearch ? [search] : [])],
    )
    return rows.map((value) => ({ settlement: readSettlement(value), fee: feeRow.parse(value).fee }))
  },

  summarize: async ({ accountId, since, limit }) => {
    const page = newestSettlements({
      scope,
      parts: partsOf(undefined),
      network: null,
      bounds: 's.created_at >= $2',
      limit: '$3',
    })
    const { rows } = await pool.query(`/* find */ with recursive ${page} ${summary}`, [
      accountId,
      since,
      limit + 1,
      limit,
    ])
    return readActivity(rows.map((value) => group.parse(value)))
  },
})

const summary = `, counted as (
    select s.network, s.asset, s.state, date_trunc('hour', s.created_at, 'UTC') as hour,
      coalesce(s.settled_amount, s.amount) as amount, extract(epoch from s.closed_at - s.created_at)::float8 as seconds
    from (select id from page order by created_at desc, id desc limit $4) as newest
      join settlements s on s.id = newest.id)
  select network, asset, hour, (select count(*) from page) <= $4 as complete,
    count(*) filter (where state = 'confirmed')::integer as confirmed,
    count(*) filter (where state = 'failed')::integer as failed,
    count(*) filter (where state in ('claimed', 'pending'))::integer as pending,
    coalesce(sum(amount) filter (where state = 'confirmed'), 0)::text as amount,
    percentile_cont(0.5) within group (order by seconds) filter (where state = 'confirmed') as median
  from counted group by grouping sets ((hour, network), (network, asset), (network), ())
  order by hour, network, asset`

const group = z.object({
  network: z.string().nullable(),
  asset: z.string().nullable(),
  hour: z.date().nullable(),
  complete: z.boolean(),
  confirmed: z.number(),
  failed: z.number(),
  pending: z.number(),
  amount: z.string(),
  median: z.number().nullable(),
})

/** A grouping set has null in the columns that it does not group by. */
const readActivity = (groups: readonly z.infer<typeof group>[]): AccountActivity => {
  const all = groups.find(({ network }) => network === null)
  const counts = { confirmed: all?.confirmed ?? 0, failed: all?.failed ?? 0, pending: all?.pending ?? 0 }
  return {
    ...counts,
    medianSeconds: all?.median ?? null,
    isComplete: all?.complete ?? true,
    networks: groups.flatMap(({ network, asset, hour, confirmed, failed, pending, median }) =>
      network === null || asset !== null || hour !== null
        ? []
        : [{ network, confirmed, failed, pending, medianSeconds: median }],
    ),
    amounts: groups.flatMap(({ network, asset, confirmed, amount }) =>
      network === null || asset === null || confirmed === 0 ? [] : [{ network, asset, amount }],
    ),
    buckets: groups.flatMap(({ network, hour, confirmed, failed, pending }) =>
      network === null || hour === null ? [] : [{ at: hour, network, confirmed, failed, pending }],
    ),
  }
}
