import type { Pool } from 'pg'
import { z } from 'zod'
import type { HeldPayments } from '../../../ports/heldPayments.js'
import { atDeadline, heldStatus } from '../../../protocol/heldPayments.js'
import { inTransaction } from '../database/statements.js'
import { hurrySettlement } from '../journal/hurrySettlement.js'
import { hasFailed, isOpen } from '../journal/settlementStates.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { columns, readHeld } from './heldRow.js'

type Deadlines = Pick<
  HeldPayments,
  | 'findDefault'
  | 'setDefault'
  | 'setAtDeadline'
  | 'listDeadlineNetworks'
  | 'leaseDeadlines'
  | 'hasReverted'
  | 'hurryMove'
  | 'beginAction'
  | 'endAction'
>

const defaultRow = z.object({ at_deadline: atDeadline })
const networkRow = z.object({ network: z.string() })
const openRow = z.object({ status: heldStatus, is_begun: z.boolean(), is_past: z.boolean() })

// A move that is recorded is sent unless `beginAction` finds another choice. An earlier version records while `acting_since` is set.
const findOpen = `
  select status, capture_deadline <= $2::timestamptz as is_past, acting_since is not null or exists (
    select from hold_moves m join settlements s on s.authorization_id = m.authorization_id
    where m.held_payment_id = h.id and m.idempotency_key like 'deadline %' and ${isOpen('s')}) as is_begun
  from held_payments h where id = $1`

/**
 * $1: now, $2: the lead in milliseconds. The queue of an account adds a day at most. What a newer version knows beside these
 * two is left to it.
 */
const isNear = `h.at_deadline in ('capture', 'void') and h.status in ('pending', 'held') and h.capture_deadline > $1::timestamptz
  and h.capture_deadline <= $1::timestamptz + $2::float8 * interval '1 millisecond' + interval '1 day'`

// One that is open for longer may be mined and not final yet, or displaced: it must not keep others from acting.
const countOpen = `
  select least($7::bigint, count(*)) from near n join hold_moves m on m.held_payment_id = n.id and m.idempotency_key like 'deadline %'
    join settlements s on s.authorization_id = m.authorization_id and ${isOpen('s')}
      and s.created_at > now() - interval '2 minutes'
  where n.act_at is not null`

// A nonce that another program used costs nothing. The clock of the database, by which rows are recorded, says how long ago that was.
const findReverted = `
  select from hold_moves m join settlements s on s.authorization_id = m.authorization_id
  where m.held_payment_id = $1 and m.idempotency_key like 'deadline %' and ${hasFailed('s')} and s.transaction is not null
    and s.reason <> 'settlement_displaced' and s.created_at >= now() - $2::float8 * interval '1 millisecond' limit 1`

/**
 * $1: now. No pause or lease is as long as a quarter of an hour: one that ends later was written by an instance whose clock is
 * ahead, and must not keep the others from acting. Two that act on one hold join each other.
 */
const isFree = `(act_at is null or act_at <= $1::timestamptz or act_at > $1::timestamptz + interval '15 minutes')`

const endAction = `
  with ended as (
    update held_payments set act_at = $2, acting_since = null,
      action_failures = case $3::text when 'failed' then action_failures + 1 when 'made' then 0 else action_failures end
    where id = $1 returning account_id, action_failures
  )
  ${insertEvents(
    `select account_id, $4::text as type, null::uuid as settlement_id, $5::json as data
     from ended where $3::text = 'failed' and action_failures = 2`,
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

  setAtDeadline: (id, action, now) =>
    inTransaction(pool, async (client) => {
      // `beginAction` waits for this lock, and what it follows is seen by the statement after it.
      await client.query('select from held_payments where id = $1 for update', [id])
      const { rows } = await client.query(findOpen, [id, now])
      const { status, is_begun: isBegun, is_past: isPast } = openRow.parse(rows[0])
      if (status !== 'pending' && status !== 'held') return 'over'
      if (isBegun) return 'begun'
      if (isPast) return 'over'
      await client.query(
        "update held_payments set at_deadline = nullif($2, 'nothing'), act_at = null, action_failures = 0 where id = $1",
        [id, action],
      )
      return 'set'
    }),

  listDeadlineNetworks: async ({ now, leadMs }) => {
    const { rows } = await pool.query(
      `select distinct h.network from held_payments h where ${isNear}
         and ${isFree}`,
      [now, leadMs],
    )
    return rows.map((each) => networkRow.parse(each).network)
  },

  leaseDeadlines: async ({ now, leadMs, queueMs, network, leasedUntil, limit, atOnce }) => {
    const { rows } = await pool.query(
      `with near as (
         select h.id, h.account_id, h.capture_deadline, h.created_at, h.act_at,
           row_number() over (partition by h.account_id order by h.capture_deadline, h.id) - 1 as place
         from held_payments h where h.network = $4 and ${isNear}
       ), due as (
         select id, capture_deadline, row_number() over (partition by account_id order by place) as turn from near
         where ${isFree} and $1::timestamptz >= capture_deadline
           - least((capture_deadline - created_at) / 2, ($2::float8 + place * $3::float8) * interval '1 millisecond')
       )
       update held_payments h set act_at = $5
       from (select id from due order by turn, capture_deadline limit least($6::bigint, $7::bigint - (${countOpen}))) d
       where h.id = d.id and ${isFree}
       returning ${columns}`,
      [now, leadMs, queueMs, network, leasedUntil, limit, atOnce],
    )
    return rows.map(readHeld)
  },

  hasReverted: async (id, withinMs) => (await pool.query(findReverted, [id, withinMs])).rowCount === 1,

  hurryMove: (move) => hurrySettlement(pool, move),

  beginAction: async (id, action) => {
    const { rowCount } = await pool.query(
      `update held_payments set acting_since = coalesce(acting_since, now()) where id = $1 and at_deadline = $2`,
      [id, action],
    )
    return rowCount === 1
  },

  endAction: async (id, { actAt, outcome }) => {
    const failure = typeof outcome === 'string' ? null : outcome.failure
    await pool.query(endAction, [
      id,
      actAt,
      failure === null ? outcome : 'failed',
      failure?.type,
      failure === null ? null : JSON.stringify(failure.data),
    ])
  },
})
