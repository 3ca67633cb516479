import type { Pool } from 'pg'
import { z } from 'zod'
import type { HeldPayments, HoldMove, HoldSettlement, StoredMove } from '../../../ports/heldPayments.js'
import { heldStatus, moveType } from '../../../protocol/heldPayments.js'
import { keyKeptMs } from '../../../protocol/requestLimits.js'
import { hasNul, inTransaction, runInBatches } from '../database/statements.js'
import { isConfirmed, newestTransaction, takesAuthorization } from '../journal/settlementStates.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { createDeadlines } from './deadlines.js'
import { amount, columns, readHeld } from './heldRow.js'

const account = z.object({ account_id: z.string() })

const captureShape = z.object({
  type: z.literal('capture'),
  amount,
  capturable: amount,
  refundable: amount,
  fee: amount.nullable(),
  feeReceiver: z.string().nullable(),
  // Absent in moves of earlier versions.
  voidsRemainder: z.boolean().default(false),
})

const moveShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('void') }),
  z.object({ type: z.literal('refund'), amount, capturable: amount, refundable: amount }),
  captureShape,
])

/** JSON has no bigint. */
const writeMove = (move: HoldMove): string =>
  JSON.stringify(move, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))

const moveRow = z.object({ fingerprint: z.string(), move: moveShape })

const readMove = (rows: readonly unknown[]): StoredMove | null =>
  rows[0] === undefined ? null : moveRow.parse(rows[0])

const unfinishedRow = z.object({ key: z.string(), move: captureShape })

const settlementRow = z.object({
  id: z.string(),
  type: z.union([moveType, z.literal('hold')]),
  state: z.enum(['claimed', 'pending', 'confirmed', 'failed']),
  amount,
  transaction: z.string().nullable(),
  isAutomatic: z.boolean(),
  createdAt: z.date(),
})

// The condition is that of the unique index. Captures and refunds from one state have one authorization: the fingerprint says
// which request made it. A payment has one void, under whichever request.
const settlements = `
  with asked as (
    select authorization_id, type, fingerprint, (array_agg(is_automatic order by created_at))[1] as is_automatic from (
      select authorization_id, move ->> 'type' as type, created_at, idempotency_key like 'deadline %' as is_automatic,
        case when move ->> 'type' <> 'void' then fingerprint end as fingerprint
      from hold_moves where held_payment_id = $1) m group by 1, 2, 3
  ), made as (
    (select s.*, 'hold' as type, false as is_automatic from settlements s
     where s.authorization_id = $2 and ${takesAuthorization('s')})
    union all
    (select s.*, m.type, m.is_automatic from asked m join settlements s on s.authorization_id = m.authorization_id
       and (m.fingerprint is null or s.fingerprint = m.fingerprint) and ${takesAuthorization('s')}
     order by s.created_at desc limit $3)
  )
  select id, type, state, authorized_amount as amount, ${newestTransaction('made')} as transaction, is_automatic as "isAutomatic",
    created_at as "createdAt" from made order by created_at, id`

/**
 * What a request moved, or may still move, is kept, as long as it can be told that it was this request: a repeated one would move
 * something again. Of an archived settlement it cannot. A void returns the same success to all: the first one is kept, and those
 * that follow captures.
 */
const hasMoved = `case
  when m.move ->> 'type' = 'void' and m.part = 'request' and exists (select from hold_moves f
    where f.held_payment_id = m.held_payment_id and f.move ->> 'type' = 'void'
      and (f.created_at, f.idempotency_key) < (m.created_at, m.idempotency_key)) then false
  when exists (select from settlements s where s.authorization_id = m.authorization_id
    and ${takesAuthorization('s')}) then exists (select from settlements s
      where s.authorization_id = m.authorization_id and ${takesAuthorization('s')}
        and (m.move ->> 'type' = 'void' or (s.fingerprint = m.fingerprint
          and coalesce(right(s.consumed_by, length(m.idempotency_key) + 1) = ':' || m.idempotency_key, true))))
  else exists (select from consumed_authorizations c where c.digest = digest_authorization(m.authorization_id)) end`

const isOld = `not m.is_kept and m.asked_at < now() - interval '${keyKeptMs} milliseconds'`

// Its row is locked: a request that comes meanwhile waits, and then finds none or keeps it for another day.
const purge = `
  with old as materialized (
    select account_id, idempotency_key, part from hold_moves m where ${isOld} order by asked_at limit $1 for update skip locked
  ), judged as materialized (
    select account_id, idempotency_key, part, ${hasMoved} as has_moved
    from hold_moves m join old using (account_id, idempotency_key, part)
  ), deleted as (
    delete from hold_moves m using judged j where not j.has_moved and m.account_id = j.account_id
      and m.idempotency_key = j.idempotency_key and m.part = j.part
  ), kept as (
    update hold_moves m set is_kept = true from judged j where j.has_moved and m.account_id = j.account_id
      and m.idempotency_key = j.idempotency_key and m.part = j.part
  )
  select from judged`

const insertEvent = insertEvents(
  'select $1::text as account_id, $2::text as type, null::uuid as settlement_id, $3::json as data',
)

const openRow = z.object({
  network: z.string(),
  asset: z.string(),
  count: z.coerce.number(),
  amount,
  nearestDeadline: z.date(),
  failing: z.coerce.number(),
})

/** `views` may be slightly out of date: pages are read from it. */
export const createHeldPayments = (pool: Pool, views: Pool = pool): HeldPayments => ({
  bind: async (hold, accountId) => {
    const { rows } = await pool.query(
      // What failed before is awaited again. Another account's row stays as it is, and is returned.
      `insert into held_payments as h (network, hash, account_id, authorization_id, payer, pay_to, asset, amount,
         capture_deadline, refund_deadline, terms, look_at, at_deadline)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now(),
         (select at_deadline from hold_defaults where account_id = $3))
       on conflict (network, hash) do update set
         status = case when h.account_id = excluded.account_id and h.status = 'failed' then 'pending' else h.status end,
         look_at = case when h.account_id = excluded.account_id and h.status = 'failed' then now() else h.look_at end
       returning h.account_id`,
      [
        hold.network,
        hold.hash,
        accountId,
        hold.authorizationId,
        hold.payer,
        hold.payTo,
        hold.asset,
        `${hold.amount}`,
        hold.captureDeadline,
        hold.refundDeadline,
        JSON.stringify(hold.terms),
      ],
    )
    return account.parse(rows[0]).account_id
  },

  findAccount: async ({ network, hash }) => {
    const { rows } = await pool.query(
      'select account_id from held_payments where network = $1 and hash = $2',
      [network, hash],
    )
    return rows[0] === undefined ? null : account.parse(rows[0]).account_id
  },

  find: async (accountId, { network, hash }) => {
    if (hasNul(network)) return null
    const { rows } = await pool.query(
      `select ${columns} from held_payments h where h.network = $1 and h.hash = $2 and h.account_id = $3`,
      [network, hash, accountId],
    )
    return rows[0] === undefined ? null : readHeld(rows[0])
  },

  list: async ({ accountId, status, before, limit }) => {
    const { rows } = await views.query(
      `select ${columns} from held_payments h
       where h.account_id = $1 and ($2::text is null or h.status = $2)
         and ($3::uuid is null or (h.created_at, h.id) <
           (select created_at, id from held_payments where id = $3 and account_id = $1))
       order by h.created_at desc, h.id desc limit $4`,
      [accountId, status, before, limit],
    )
    return rows.map(readHeld)
  },

  findMove: async ({ accountId, key, part }) => {
    const { rows } = await pool.query(
      // It is kept for another day, so that it is not purged while this request moves something.
      `update hold_moves set asked_at = now() where account_id = $1 and idempotency_key = $2 and part = $3
       returning fingerprint, move`,
      [accountId, key, part],
    )
    return readMove(rows)
  },

  saveMove: async ({ accountId, key, part, heldPaymentId, authorizationId, fingerprint, move }) => {
    const { rows } = await pool.query(
      // The row that is there is locked and returned unchanged. The process that asked may end before the outcome is known.
      `with saved as (
         insert into hold_moves as m (account_id, idempotency_key, part, held_payment_id, authorization_id, fingerprint, move)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (account_id, idempotency_key, part) do update set asked_at = now()
         returning fingerprint, move
       ), awaited as (
         update held_payments set look_at = now() + interval '30 seconds'
         where id = $4 and coalesce(look_at > now() + interval '30 seconds', true)
       )
       select fingerprint, move from saved`,
      [accountId, key, part, heldPaymentId, authorizationId, fingerprint, writeMove(move)],
    )
    return moveRow.parse(rows[0])
  },

  listSettlements: async ({ id, authorizationId }, limit) => {
    const { rows } = await pool.query(settlements, [id, authorizationId, limit])
    return rows.map((each): HoldSettlement => settlementRow.parse(each))
  },

  findUnfinished: async (id) => {
    const { rows } = await pool.query(
      // An equal request from the same state was refused: the success is that of the key that earned it.
      `select m.idempotency_key as key, m.move from hold_moves m join settlements s
         on s.authorization_id = m.authorization_id and s.fingerprint = m.fingerprint and ${isConfirmed('s')}
       where m.held_payment_id = $1 and m.part = 'request' and m.move ->> 'voidsRemainder' = 'true'
         and coalesce(right(s.consumed_by, length(m.idempotency_key) + 1) = ':' || m.idempotency_key, true)
       order by m.created_at limit 1`,
      [id],
    )
    return rows[0] === undefined ? null : unfinishedRow.parse(rows[0])
  },

  observe: (
    { id, status: known },
    { status, capturable, refundable, captured, refunded, lookAt, statusEvent, warning },
  ) =>
    inTransaction(pool, async (client) => {
      const { rows } = await client.query(
        'select status, account_id, warned_at is null as is_new from held_payments where id = $1 for update',
        [id],
      )
      const before = z
        .object({ status: heldStatus, account_id: z.string(), is_new: z.boolean() })
        .parse(rows[0])
      if (before.status !== known) return
      const warned = before.is_new ? warning : null
      await client.query(
        `update held_payments set status = $2, capturable = $3, refundable = $4, captured = $5, refunded = $6,
           look_at = $7, warned_at = case when $8 then now() else warned_at end where id = $1`,
        [id, status, `${capturable}`, `${refundable}`, `${captured}`, `${refunded}`, lookAt, warned !== null],
      )
      for (const event of [before.status === status ? null : statusEvent, warned]) {
        if (event === null) continue
        await client.query(insertEvent, [before.account_id, event.type, JSON.stringify(event.data)])
      }
    }),

  listDue: async (now, limit) => {
    const { rows } = await pool.query(
      `select ${columns} from (
         select d.*, row_number() over (partition by d.network order by d.turn, random()) as network_turn from (
           select *, row_number() over (partition by network, account_id order by random()) as turn
           from held_payments where look_at <= $1) d) h
       order by h.network_turn limit $2`,
      [now, limit],
    )
    return rows.map(readHeld)
  },

  countOpen: async () => {
    const { rows } = await views.query(
      `select network, asset, count(*) as count, sum(capturable)::text as amount, min(capture_deadline) as "nearestDeadline",
         count(*) filter (where status = 'held' and at_deadline is not null and action_failures > 0) as failing
       from held_payments where look_at is not null and status in ('held', 'expired') group by network, asset`,
    )
    return rows.map((each) => openRow.parse(each))
  },

  purgeMoves: (stopped) => runInBatches(pool, { text: purge, size: 1_000, stopped }),

  ...createDeadlines(pool),
})
