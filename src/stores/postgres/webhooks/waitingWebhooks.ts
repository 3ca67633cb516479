import type { Pool } from 'pg'
import { z } from 'zod'
import type { WaitingWebhooks } from '../../../ports/operatorOverview.js'

const maxCounted = 10_000
const maxAccounts = 1_000

const isReady = "d.state = 'waiting' and d.is_ready"
const isLater = "d.state = 'waiting' and not d.is_ready"

const count = (condition: string): string =>
  `(select count(*)::int from (select from webhook_deliveries d where ${condition} limit ${maxCounted}) counted)`

const nextAccount = (condition: string): string =>
  `select d.account_id from webhook_deliveries d where ${isReady} and ${condition} order by d.account_id limit 1`

// One index entry for each account. An event whose endpoint was removed while it was written is never sent.
const measure = `
  with recursive account (account_id) as (
    (${nextAccount('true')})
    union all
    select next.account_id from account a cross join lateral (${nextAccount('d.account_id > a.account_id')}) next
  )
  select ${count(isReady)} + ${count(`${isLater} and d.due_at <= now()`)} as due,
    ${count(`${isLater} and d.due_at > now()`)} as later,
    coalesce(extract(epoch from now() - least(
      (select min(head.due_at) from (select account_id from account limit ${maxAccounts}) a
        join webhook_endpoints using (account_id) cross join lateral (
          select d.due_at from webhook_deliveries d where ${isReady} and d.account_id = a.account_id
          order by d.due_at limit 1) head),
      (select min(d.due_at) from webhook_deliveries d where ${isLater} and d.due_at <= now())
    )), 0)::float8 as "oldestDueSeconds"`

const rows = z.tuple([z.object({ due: z.number(), later: z.number(), oldestDueSeconds: z.number() })])

/** Of the first 1,000 accounts with due deliveries. */
export const measureWaitingWebhooks = async (pool: Pick<Pool, 'query'>): Promise<WaitingWebhooks> => {
  const [{ due, later, oldestDueSeconds }] = rows.parse((await pool.query(measure)).rows)
  return {
    due: Math.min(due, maxCounted),
    later,
    // Written due in the same moment, by a clock that ticks backwards.
    oldestDueSeconds: Math.max(0, oldestDueSeconds),
  }
}
