import type { Pool } from 'pg'
import { z } from 'zod'
import type { Quotas } from '../../../ports/quotas.js'
import { startOfMonth } from '../../../protocol/month.js'
import { toDay, toMonth } from '../database/day.js'

const use = z.object({ used: z.coerce.number() })
const dayUse = z.object({ date: z.string(), count: z.coerce.number() })

export const createQuotas = (pool: Pool): Quotas => ({
  readUse: async (holder, now) => {
    const { rows } = await pool.query('select used from quota_uses where account_id = $1 and month = $2', [
      holder,
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
