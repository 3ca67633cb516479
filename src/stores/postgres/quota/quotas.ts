import type { Pool } from 'pg'
import { z } from 'zod'
import type { Quotas } from '../../../ports/quotas.js'
import { startOfMonth } from '../../../protocol/tiers.js'
import { toDay, toMonth } from '../database/statements.js'

const use = z.object({ used: z.coerce.number() })
const dayUse = z.object({ date: z.string(), count: z.coerce.number() })

export const createQuotas = (pool: Pool): Quotas => ({
  readUse: async (customer, now) => {
    const { rows } = await pool.query('select used from quota_uses where account_id = $1 and month = $2', [
      customer,
      toMonth(now),
    ])
    return { monthStartsAt: startOfMonth(now), used: rows[0] === undefined ? 0 : use.parse(rows[0]).used }
  },

  listDays: async (accountId, days, now) => {
    const { rows } = await pool.query(
      `select to_char(d.day, 'YYYY-MM-DD') as date, coalesce(a.count, 0) as count
       from generate_series($2::date - ($3::integer - 1), $2::timestamp, interval '1 day') as d (day)
         left join account_days a on a.account_id = $1 and a.day = d.day::date
       order by d.day`,
      [accountId, toDay(now), days],
    )
    return rows.map((value) => dayUse.parse(value))
  },
})

/** CTE `quotas`: locks quota rows before settlements, as claiming does, to avoid deadlocks. */
export const lockQuotas = (ids: string): string => `quotas as (
  select 1 from quota_uses q where (q.account_id, q.month) in (
    select coalesce(s.quota_holder, s.caller), s.quota_month from settlements s where s.id in (${ids}) and s.quota_month is not null)
  order by q.account_id, q.month for update)`

/** Always true; forces the CTE of `lockQuotas` to run first. */
export const quotasAreLocked = '(select count(*) from quotas) >= 0'

/** CTE that refunds the quota of settlements in a CTE `closed` that failed before anything was recorded: a revert costs gas. */
export const refundQuota = `refunded as (
  update quota_uses q set used = greatest(0, q.used - f.count) from (
    select coalesce(quota_holder, caller) as holder, quota_month, count(*) as count from closed
    where state = 'failed' and transaction is null and quota_month is not null group by holder, quota_month) f
  where q.account_id = f.holder and q.month = f.quota_month)`

export const ensureQuotaRow = async (pool: Pool, customer: string, at: Date): Promise<void> => {
  await pool.query(
    'insert into quota_uses (account_id, month) values ($1, $2) on conflict (account_id, month) do nothing',
    [customer, toMonth(at)],
  )
}
