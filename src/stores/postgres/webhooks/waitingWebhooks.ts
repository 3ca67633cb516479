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

const secondsSince = (ofHeads: string): string =>
  `coalesce(extract(epoch from now() - least(${ofHeads}, (select due_at from overdue))), 0)::float8`

/** Whose receiver is being called, or was within a quarter of an hour: what waits there waits for the receiver. */
const attended = `
  select account_id from (select d.account_id, d.lease, d.last_attempt_at from webhook_deliveries d
    where ${isLater} and d.due_at > now() order by d.due_at limit ${maxCounted}) later
  where lease is not null or last_attempt_at > now() - interval '15 minutes'`

// One index entry for each account. An event whose endpoint was removed while it was written is never sent.
const measure = `
  with recursive account (account_id) as (
    (${nextAccount('true')})
    union all
    select next.account_id from account a cross join lateral (${nextAccount('d.account_id > a.account_id')}) next
  ), head as (
    select a.account_id, h.due_at from (select account_id from account limit ${maxAccounts}) a
      join webhook_endpoints using (account_id) cross join lateral (
        select d.due_at from webhook_deliveries d where ${isReady} and d.account_id = a.account_id
        order by d.due_at limit 1) h
  ), overdue as (
    select min(d.due_at) as due_at from webhook_deliveries d where ${isLater} and d.due_at <= now()
  )
  select ${count(isReady)} + ${count(`${isLater} and d.due_at <= now()`)} as due,
    ${count(`${isLater} and d.due_at > now()`)} as later,
    ${secondsSince('(select min(due_at) from head)')} as "oldestDueSeconds",
    ${secondsSince(`(select min(due_at) from head where account_id not in (${attended}))`)} as "unattendedSeconds"`

const rows = z.tuple([
  z.object({
    due: z.number(),
    later: z.number(),
    oldestDueSeconds: z.number(),
    unattendedSeconds: z.number(),
  }),
])

/** Of the first 1,000 accounts with due deliveries. */
export const measureWaitingWebhooks = async (pool: Pick<Pool, 'query'>): Promise<WaitingWebhooks> => {
  const [{ due, later, oldestDueSeconds, unattendedSeconds }] = rows.parse((await pool.query(measure)).rows)
  return {
    due: Math.min(due, maxCounted),
    later,
    // Written due in the same moment, by a clock that ticks backwards.
    oldestDueSeconds: Math.max(0, oldestDueSeconds),
    unattendedSeconds: Math.max(0, unattendedSeconds),
  }
}
