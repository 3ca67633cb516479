import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { FoundDifferences, Period, ReadLimit } from '../../../ports/reconciliation.js'
import {
  type CounterName,
  type DifferenceKind,
  differenceKinds,
  type KindCount,
} from '../../../protocol/reconciliation.js'
import { classifyFailure, isCanceled } from '../database/databaseErrors.js'
import { inTransaction } from '../database/statements.js'

type Counter = Exclude<CounterName, 'streams_and_intents' | 'missing_rows'>

interface Comparison {
  readonly kind: DifferenceKind
  /** It names one row in the message. */
  readonly subject: string
  /** SQL with the columns key and value, and `account_id` where `names` is an account. An empty counter equals none. */
  readonly recount: string
  readonly counters: string
  readonly names?: 'settlement' | 'account'
  /** The SQL uses $1 and $2, the bounds of the period. Days and months are compared whole. */
  readonly isOfPeriod?: boolean
}

const totals = (columns: string, from: string): string => `
  select v.* from (select ${columns} from ${from}) t,
    lateral (values ('opened', opened), ('confirmed', confirmed), ('failed', failed)) v (key, value)`

// Days and months of archived settlements are not compared: the file has them.
const archived = '(select coalesce(sum(deleted), 0)::bigint from settlement_archives)'
const firstDay = `(archived_before() at time zone 'utc')::date`

const unfinal = `concat_ws(' ', network, block_number, block_hash, scheme)`

// Until then, counters of mailboxes may count settlements twice: `0041_quota_holders.backfill.sql`.
const areHoldersNamed = `not exists (select from schema_backfill where name = 'quota_holders' and finished_at is null)`

const comparisons: Readonly<Record<Counter, Comparison>> = {
  open_list: {
    kind: 'open_list_differs',
    subject: 'Open settlement',
    recount: `select id as key, 'open' as value from settlements where state in ('claimed', 'pending')`,
    counters: `select settlement_id as key, 'open' as value from open_settlements`,
    names: 'settlement',
  },
  unfinal_list: {
    kind: 'unfinal_list_differs',
    subject: 'Settlement that is not final',
    recount: `select id as key, ${unfinal} as value from settlements where block_hash is not null and not is_final`,
    counters: `select settlement_id as key, ${unfinal} as value from unfinal_settlements`,
    names: 'settlement',
  },
  totals: {
    kind: 'totals_differ',
    subject: 'Total of',
    recount: totals(
      `count(*) + ${archived} as opened, count(*) filter (where state = 'confirmed') + ${archived} as confirmed,
       count(*) filter (where state = 'failed') as failed`,
      'settlements',
    ),
    counters: totals(
      'sum(opened) as opened, sum(confirmed) as confirmed, sum(failed) as failed',
      'settlement_totals',
    ),
  },
  days: {
    kind: 'days_differ',
    subject: 'Settlements of account and day',
    recount: `
      select concat_ws(' ', caller, (created_at at time zone 'utc')::date) as key, caller as account_id, count(*) as value
      from settlements where caller <> 'anonymous' and state <> 'failed'
        and created_at >= date_trunc('day', $1::timestamptz, 'utc')
        and created_at < date_trunc('day', $2::timestamptz, 'utc') + interval '1 day'
        and created_at >= archived_before()
      group by caller, (created_at at time zone 'utc')::date`,
    counters: `
      select concat_ws(' ', account_id, day) as key, account_id, count as value from account_days
      where count <> 0 and day between ($1::timestamptz at time zone 'utc')::date
        and ($2::timestamptz at time zone 'utc')::date and day >= ${firstDay}`,
    names: 'account',
    isOfPeriod: true,
  },
  quotas: {
    kind: 'quota_differs',
    subject: 'Quota of holder and month',
    recount: `
      select concat_ws(' ', coalesce(quota_holder, caller), to_char(quota_month, 'YYYY-MM')) as key,
        coalesce(quota_holder, caller) as account_id, count(*) as value
      from settlements where ${areHoldersNamed} and quota_month between date_trunc('month', $1::timestamptz at time zone 'utc')::date
        and ($2::timestamptz at time zone 'utc')::date and (state <> 'failed' or transaction is not null)
        and quota_month >= ${firstDay}
      group by coalesce(quota_holder, caller), quota_month`,
    counters: `
      select concat_ws(' ', account_id, to_char(month, 'YYYY-MM')) as key, account_id, used as value
      from quota_uses where ${areHoldersNamed} and used <> 0 and month between date_trunc('month', $1::timestamptz at time zone 'utc')::date
        and ($2::timestamptz at time zone 'utc')::date and month >= ${firstDay}`,
    names: 'account',
    isOfPeriod: true,
  },
  credit_payments: {
    kind: 'credit_differs',
    subject: 'Payments and millionths of a dollar of payer and payee',
    recount: `
      select concat_ws(' ', payer, payee) as key, concat_ws(' ', sum(payments), sum(worth)) as value
      from (
        select credit_wallet(network, payer_wallet) as payer, credit_wallet(network, payee_wallet) as payee,
          1 as payments, worth
        from settlements, lateral (
          select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
        where state = 'confirmed' and dollar_decimals is not null
          and credit_counts(payer_wallet, payee_wallet, worth)
        union all
        select payer, payee, payments, volume from archived_credit) p
      group by payer, payee`,
    counters: `
      select concat_ws(' ', payer, payee) as key, concat_ws(' ', payments, volume) as value
      from credit_edges where payments <> 0 or volume <> 0`,
  },
  // Scores are read from these sums, not from the pairs.
  credit_wallets: {
    kind: 'credit_differs',
    subject: 'Payments, volume, both after the limits for each payee, and payees of wallet',
    recount: `
      select payer as key, concat_ws(' ', sum(payments), sum(volume), sum(credit_capped_payments(payments)),
        sum(credit_capped_volume(volume)), count(*) filter (where payments > 0)) as value
      from credit_edges where payments <> 0 or volume <> 0 group by payer`,
    counters: `
      select wallet as key,
        concat_ws(' ', paid_payments, paid_volume, paid_capped_payments, paid_capped_volume, paid_payees) as value
      from credit_wallets
      where row(paid_payments, paid_volume, paid_capped_payments, paid_capped_volume, paid_payees)
        <> row(0, 0, 0, 0, 0)`,
  },
  credit_failures: {
    kind: 'credit_differs',
    subject: 'Failures of wallet',
    recount: 'select wallet as key, count(*) as value from credit_failures group by wallet',
    counters: 'select wallet as key, failures as value from credit_wallets where failures <> 0',
  },
}

const toSql = ({ kind, recount, counters, names }: Comparison): string => `
  select '${kind}' as kind, coalesce(r.key, c.key)::text as subject,
    ${names === 'account' ? 'coalesce(r.account_id, c.account_id)' : 'null::text'} as account_id, null::text as network,
    ${names === 'settlement' ? 'coalesce(r.key, c.key)::text' : 'null::text'} as settlement_id,
    coalesce(r.value::text, 'none') as expected, coalesce(c.value::text, 'none') as actual
  from (${recount}) r full join (${counters}) c on c.key = r.key where r.value is distinct from c.value`

/** Compares a counter with a recount. */
export const findCountDifferences = (
  client: Pool | PoolClient,
  counter: Counter,
  { from, to }: Period,
): Promise<FoundDifferences> => {
  const comparison = comparisons[counter]
  return readDifferences(client, {
    sql: toSql(comparison),
    values: comparison.isOfPeriod === true ? [from, to] : [],
    describe: ({ subject, expected, actual }) =>
      `${comparison.subject} ${subject}: the recount says ${expected}, the counters say ${actual}`,
  })
}

const differenceRow = z.object({
  kind: z.enum(differenceKinds),
  /** What is named in the message. */
  subject: z.string(),
  account_id: z.string().nullable(),
  network: z.string().nullable(),
  settlement_id: z.string().nullable(),
  expected: z.string(),
  actual: z.string(),
  total: z.coerce.number(),
})

/** It bounds each kind: what is wrong in every row needs no list of every row. */
const maxListed = 1_000

export type DifferenceRow = z.infer<typeof differenceRow>

interface DifferenceQuery {
  /** Selects the columns of `DifferenceRow`, without the total. */
  readonly sql: string
  /** The values are those of $1, $2 and so on. */
  readonly values: readonly unknown[]
  readonly describe: (row: DifferenceRow) => string
}

/** The first of each kind, with the number of all. One statement is one snapshot. */
export const readDifferences = async (
  client: Pool | PoolClient,
  { sql, values, describe }: DifferenceQuery,
): Promise<FoundDifferences> => {
  const { rows } = await client.query(
    `select * from (
       select d.*, row_number() over (partition by kind order by subject) as position,
         count(*) over (partition by kind) as total
       from (${sql}) d) n
     where position <= ${maxListed} order by kind, position`,
    [...values],
  )
  const found = rows.map((value) => differenceRow.parse(value))
  const counts = new Map(found.map(({ kind, total }): [string, KindCount] => [kind, { kind, count: total }]))
  return {
    counts: [...counts.values()],
    differences: found.map((each) => ({
      kind: each.kind,
      message: describe(each),
      ...(each.account_id === null ? {} : { accountId: each.account_id }),
      ...(each.network === null ? {} : { network: each.network }),
      ...(each.settlement_id === null ? {} : { settlementId: each.settlement_id }),
      expected: each.expected,
      actual: each.actual,
    })),
  }
}

const backend = z.tuple([z.object({ pid: z.number() })])

/**
 * Bounds each statement of `work`; null if one was cancelled. A statement that is only abandoned would run on in the
 * server: when stopped, it is cancelled by another connection of the pool.
 */
export const readWithin = async <T>(
  pool: Pool,
  { timeoutMs, stopped }: ReadLimit,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | null> => {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${Math.max(1, Math.floor(timeoutMs))}`)
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const [{ pid }] = backend.parse(rows)
      const cancel = () => {
        pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined)
      }
      if (stopped.aborted) return null
      stopped.addEventListener('abort', cancel, { once: true })
      try {
        return await work(client)
      } finally {
        stopped.removeEventListener('abort', cancel)
      }
    })
  } catch (error) {
    // A replica that must apply what the statement still reads ends it with a conflict.
    if (isCanceled(error) || classifyFailure(error) === 'conflict') return null
    throw error
  }
}
