import type { Pool } from 'pg'
import { z } from 'zod'
import type { Period } from '../../../ports/reconciliation.js'
import type { Difference } from '../../../protocol/reconciliation.js'

const row = z.object({
  kind: z.enum([
    'open_list_differs',
    'unfinal_list_differs',
    'totals_differ',
    'days_differ',
    'quota_differs',
    'credit_differs',
  ]),
  subject: z.string(),
  account_id: z.string().nullable(),
  settlement_id: z.string().nullable(),
  /** Null: the recount has no such row. */
  recounted: z.string().nullable(),
  /** Null: the counters have no such row. */
  counted: z.string().nullable(),
})

/** Rows of one relation that the other has not, or has otherwise. Both have the columns (key, value). */
const compare = (kind: string, recount: string, counters: string, columns: string): string => `
  select '${kind}' as kind, coalesce(r.key, c.key)::text as subject, ${columns}, r.value::text as recounted,
    c.value::text as counted
  from ${recount} r full join ${counters} c on c.key = r.key where r.value is distinct from c.value`

const noAccount = 'null::text as account_id'
const noSettlement = 'null::text as settlement_id'

// One statement is one snapshot. An empty counter equals none.
const differences = `
  with open_recount as (select id as key, 'open' as value from settlements where state in ('claimed', 'pending')),
    open_counters as (select settlement_id as key, 'open' as value from open_settlements),
    unfinal_recount as (
      select id as key, concat_ws(' ', network, block_number, block_hash, scheme) as value from settlements
      where block_hash is not null and not is_final),
    unfinal_counters as (
      select settlement_id as key, concat_ws(' ', network, block_number, block_hash, scheme) as value
      from unfinal_settlements),
    totals as (
      select count(*) as opened, count(*) filter (where state = 'confirmed') as confirmed,
        count(*) filter (where state = 'failed') as failed from settlements),
    counted_totals as (
      select sum(opened) as opened, sum(confirmed) as confirmed, sum(failed) as failed from settlement_totals),
    total_recount as (
      select v.* from totals, lateral (values ('opened', opened), ('confirmed', confirmed), ('failed', failed)) v (key, value)),
    total_counters as (
      select v.* from counted_totals,
        lateral (values ('opened', opened), ('confirmed', confirmed), ('failed', failed)) v (key, value)),
    day_recount as (
      select concat_ws(' ', caller, (created_at at time zone 'utc')::date) as key, caller, count(*) as value
      from settlements where caller <> 'anonymous' and state <> 'failed'
        and created_at >= date_trunc('day', $1::timestamptz, 'utc') and created_at < date_trunc('day', $2::timestamptz, 'utc') + interval '1 day'
      group by caller, (created_at at time zone 'utc')::date),
    day_counters as (
      select concat_ws(' ', account_id, day) as key, account_id as caller, count as value from account_days
      where count <> 0 and day between ($1::timestamptz at time zone 'utc')::date and ($2::timestamptz at time zone 'utc')::date),
    quota_recount as (
      select concat_ws(' ', coalesce(quota_holder, caller), to_char(quota_month, 'YYYY-MM')) as key,
        coalesce(quota_holder, caller) as caller, count(*) as value
      from settlements where quota_month between date_trunc('month', $1::timestamptz at time zone 'utc')::date
        and ($2::timestamptz at time zone 'utc')::date and (state <> 'failed' or transaction is not null)
      group by coalesce(quota_holder, caller), quota_month),
    quota_counters as (
      select concat_ws(' ', account_id, to_char(month, 'YYYY-MM')) as key, account_id as caller, used as value
      from quota_uses where used <> 0 and month between date_trunc('month', $1::timestamptz at time zone 'utc')::date
        and ($2::timestamptz at time zone 'utc')::date),
    credit_recount as (
      select credit_wallet(network, payer_wallet) as key, concat_ws(' ', count(*), sum(worth)) as value
      from settlements, lateral (
        select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
      where state = 'confirmed' and dollar_decimals is not null
        and credit_counts(payer_wallet, payee_wallet, worth)
      group by 1),
    credit_counters as (
      select payer as key, concat_ws(' ', sum(payments), sum(volume)) as value
      from credit_edges where payments <> 0 group by 1)
  (${compare('open_list_differs', 'open_recount', 'open_counters', `${noAccount}, coalesce(r.key, c.key)::text as settlement_id`)} limit $3)
  union all (${compare('unfinal_list_differs', 'unfinal_recount', 'unfinal_counters', `${noAccount}, coalesce(r.key, c.key)::text as settlement_id`)} limit $3)
  union all (${compare('credit_differs', 'credit_recount', 'credit_counters', `${noAccount}, ${noSettlement}`)} limit $3)
  union all (${compare('totals_differ', 'total_recount', 'total_counters', `${noAccount}, ${noSettlement}`)} limit $3)
  union all (${compare('days_differ', 'day_recount', 'day_counters', `coalesce(r.caller, c.caller) as account_id, ${noSettlement}`)} limit $3)
  union all (${compare('quota_differs', 'quota_recount', 'quota_counters', `coalesce(r.caller, c.caller) as account_id, ${noSettlement}`)} limit $3)`

/** Of each kind; what is wrong in every row needs no list of every row. */
const maxPerKind = 1_000

/** Compares the counters with a recount, in one snapshot. Days and months are those of the period, whole. */
export const findCountDifferences = async (
  pool: Pool,
  { from, to }: Period,
): Promise<readonly Difference[]> => {
  const { rows } = await pool.query(differences, [from, to, maxPerKind])
  return rows.map((value) => {
    const { kind, subject, account_id, settlement_id, recounted, counted } = row.parse(value)
    return {
      kind,
      message: `${subjects[kind]} ${subject}: the journal says ${recounted ?? 'none'}, the counters say ${counted ?? 'none'}`,
      ...(account_id === null ? {} : { accountId: account_id }),
      ...(settlement_id === null ? {} : { settlementId: settlement_id }),
      expected: recounted ?? 'none',
      actual: counted ?? 'none',
    }
  })
}

const subjects = {
  open_list_differs: 'Open settlement',
  unfinal_list_differs: 'Settlement that is not final',
  totals_differ: 'Total of',
  days_differ: 'Settlements of account and day',
  quota_differs: 'Quota of holder and month',
  credit_differs: 'Payments and millionths of a dollar of wallet',
} as const
