import type { Pool } from 'pg'

/** Differences between the journal and what is derived from it: open and unfinal settlements, totals, daily use. */
export const findWorkDifferences = async (pool: Pool): Promise<readonly unknown[]> => {
  const { rows } = await pool.query(`
    with open as (select id from settlements where state in ('claimed', 'pending')),
      unfinal as (select network, block_number, block_hash, id, scheme from settlements
        where block_hash is not null and not is_final),
      totals as (select count(*) as opened, count(*) filter (where state = 'confirmed') as confirmed,
        count(*) filter (where state = 'failed') as failed from settlements),
      days as (select caller, (created_at at time zone 'utc')::date as day, count(*) as count from settlements
        where caller <> 'anonymous' and state <> 'failed' group by 1, 2),
      counted as (select account_id, day, count from account_days where count <> 0)
    select 'open' as what, to_jsonb(d) as row from (
        (table open except table open_settlements) union all (table open_settlements except table open)) d
    union all select 'unfinal', to_jsonb(d) from (
        (table unfinal except table unfinal_settlements) union all (table unfinal_settlements except table unfinal)) d
    union all select 'totals', to_jsonb(d) from (
        select sum(opened) as opened, sum(confirmed) as confirmed, sum(failed) as failed from settlement_totals
        except table totals) d
    union all select 'days', to_jsonb(d) from ((table days except table counted) union all
        (table counted except table days)) d`)
  return rows
}
