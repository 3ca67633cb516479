import type { Pool } from 'pg'
import { z } from 'zod'
import type { HeldPayments } from '../../../ports/heldPayments.js'
import { atDeadline } from '../../../protocol/heldPayments.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { columns, readHeld } from './heldRow.js'

type Deadlines = Pick<
  HeldPayments,
  | 'findDefault'
  | 'setDefault'
  | 'setAtDeadline'
  | 'listDeadlineNetworks'
  | 'leaseDeadlines'
  | 'beginAction'
  | 'endAction'
>

const defaultRow = z.object({ at_deadline: atDeadline })
const networkRow = z.object({ network: z.string() })
const refusedRow = z.object({ is_begun: z.boolean() })

/** $1: now, $2: the lead in milliseconds. The queue of an account adds a day at most. */
const isNear = `h.at_deadline is not null and h.status in ('pending', 'held') and h.capture_deadline > $1::timestamptz
  and h.capture_deadline <= $1::timestamptz + $2::float8 * interval '1 millisecond' + interval '1 day'`

const endAction = `
  with ended as (
    update held_payments set act_at = $2, acting_since = case when $3 then null else acting_since end,
      action_failures = case $4::text when 'failed' then action_failures + 1 when 'made' then 0 else action_failures end
    where id = $1 returning account_id, action_failures
  )
  ${insertEvents(
    `select account_id, $5::text as type, null::uuid as settlement_id, $6::json as data
     from ended where $4::text = 'failed' and action_failures = 2`,
  )}`

export const createDeadlines = (pool: Pool): Deadlines => ({
  findDefault: async (accountId) => {
    const { rows } = await pool.query('select at_deadline from hold_defaults where account_id = $1', [
      accountId,
    ])
    return rows[0] === undefined ? 'nothing' : defaultRow.parse(rows[0]).at_deadline
  },

  setDefault: async (accountId, action) => {
    if (action === 'nothing') {
      await pool.query('delete from hold_defaults where account_id = $1', [accountId])
      return
    }
    await pool.query(
      `insert into hold_defaults (account_id, at_deadline) values ($1, $2)
       on conflict (account_id) do update set at_deadline = excluded.at_deadline, changed_at = now()`,
      [accountId, action],
    )
  },

  setAtDeadline: async (id, action, now) => {
    const { rowCount } = await pool.query(
      `update held_payments set at_deadline = nullif($2, 'nothing'), act_at = null, action_failures = 0
       where id = $1 and acting_since is null and status in ('pending', 'held') and capture_deadline > $3`,
      [id, action, now],
    )
    if (rowCount === 1) return 'set'
    const { rows } = await pool.query(
      `select acting_since is not null and status in ('pending', 'held') as is_begun from held_payments where id = $1`,
      [id],
    )
    return refusedRow.parse(rows[0]).is_begun ? 'begun' : 'over'
  },

  listDeadlineNetworks: async ({ now, leadMs }) => {
    const { rows } = await pool.query(
      `select distinct h.network from held_payments h where ${isNear}
         and (h.act_at is null or h.act_at <= $1::timestamptz)`,
      [now, leadMs],
    )
    return rows.map((each) => networkRow.parse(each).network)
  },

  leaseDeadlines: async ({ now, leadMs, queueMs, network, leasedUntil, limit }) => {
    const { rows } = await pool.query(
      `with near as (
         select h.id, h.account_id, h.capture_deadline, h.created_at, h.act_at,
           row_number() over (partition by h.account_id order by h.capture_deadline, h.id) - 1 as place
         from held_payments h where h.network = $4 and ${isNear}
       ), due as (
         select id, capture_deadline, row_number() over (partition by account_id order by place) as turn from near
         where (act_at is null or act_at <= $1::timestamptz) and $1::timestamptz >= capture_deadline
           - least((capture_deadline - created_at) / 2, ($2::float8 + place * $3::float8) * interval '1 millisecond')
       )
       update held_payments h set act_at = $5 from (select id from due order by turn, capture_deadline limit $6) d
       where h.id = d.id and (h.act_at is null or h.act_at <= $1::timestamptz)
       returning ${columns}`,
      [now, leadMs, queueMs, network, leasedUntil, limit],
    )
    return rows.map(readHeld)
  },

  beginAction: async (id, action) => {
    const { rowCount } = await pool.query(
      `update held_payments set acting_since = coalesce(acting_since, now()) where id = $1 and at_deadline = $2`,
      [id, action],
    )
    return rowCount === 1
  },

  endAction: async (id, { actAt, hasFailed, outcome }) => {
    const failure = typeof outcome === 'string' ? null : outcome.failure
    await pool.query(endAction, [
      id,
      actAt,
      hasFailed,
      failure === null ? outcome : 'failed',
      failure?.type,
      failure === null ? null : JSON.stringify(failure.data),
    ])
  },
})
