import type { Pool } from 'pg'
import { z } from 'zod'
import type { AttemptOutcome, WebhookDelivery, WebhookOutbox } from '../../../ports/webhookOutbox.js'
import { runInBatches, uuidForm } from '../database/statements.js'
import {
  deliveryColumns,
  endpointColumns,
  insertEvents,
  readDelivery,
  readEndpoint,
} from './webhookEvents.js'

const retention = "interval '30 days'"

const maxReadied = 5_000

/** Makes ready what has become due, also what a dead instance had leased. */
const makeReady = `/* webhook_claim */
  with due as (
    select id from webhook_deliveries where state = 'waiting' and not is_ready and due_at <= now()
    order by due_at limit $1 for update skip locked
  )
  update webhook_deliveries d set is_ready = true from due where d.id = due.id`

const isReady = "d.state = 'waiting' and d.is_ready"

const nextAccount = (condition: string): string =>
  `select d.account_id from webhook_deliveries d where ${isReady} and ${condition} order by d.account_id limit 1`

/** Accounts with ready deliveries that `condition` admits, in order: one index entry for each. */
const listAccounts = (condition: string): string => `
  with recursive account (account_id) as (
    (${nextAccount(condition)})
    union all
    select next.account_id from account a cross join lateral (
      ${nextAccount(`d.account_id > a.account_id and ${condition}`)}) next
  ) select account_id from account where account_id <> all($3)`

// One delivery of each account before the second of any. With a cursor the accounts take turns, so that many failing
// endpoints do not starve others; the cost is that of the limit, not of the number of endpoints.
const allAccounts = `
  select * from (${listAccounts('d.account_id > $5')} limit $1) later
  union all
  select * from (${listAccounts('d.account_id <= $5')} limit $1) earlier
  limit $1`

const someAccounts = `
  select account_id from unnest($6::text[]) as a (account_id)
  where account_id <> all($3) and exists (
    select 1 from webhook_deliveries d where ${isReady} and d.account_id = a.account_id and d.due_at <= now())
  order by account_id <= $5, account_id limit $1`

const leaseFrom = (accounts: string): string => `/* webhook_claim */
  with accounts as (
    select account_id, row_number() over () as turn from (${accounts}) a
  ), heads as (
    -- An event that was written while its endpoint was removed stays where it is.
    select h.id, a.turn, h.place from accounts a join webhook_endpoints using (account_id) cross join lateral (
      select d.id, row_number() over (order by d.due_at) as place from (
        select d.id, d.due_at from webhook_deliveries d
        where ${isReady} and d.account_id = a.account_id and d.due_at <= now()
        order by d.due_at limit $2 for update skip locked) d) h
    order by h.place, a.turn limit $1
  ), leased as (
    update webhook_deliveries d set lease = gen_random_uuid(), is_ready = false,
      due_at = now() + $4 * interval '1 millisecond'
    from heads where d.id = heads.id returning d.*, heads.turn, heads.place
  )
  select ${deliveryColumns}, d.lease, ${endpointColumns}
  from leased d join webhook_endpoints e on e.account_id = d.account_id order by d.place, d.turn`

const leaseFromAll = leaseFrom(allAccounts)
const leaseFromSome = leaseFrom(someAccounts)

const listedStates: readonly WebhookDelivery['state'][] = ['waiting', 'delivered', 'failed']

const leasedRow = z.looseObject({ lease: z.string() })

/** The database's clock decides what is due: clock skew between instances has no effect. */
export const createWebhookOutbox = (pool: Pool): WebhookOutbox => ({
  enqueue: async ({ accountId, type, data, settlementId }) => {
    await pool.query(
      insertEvents(
        'select $1::text as account_id, $2::text as type, $3::uuid as settlement_id, $4::json as data',
        { mayBePending: true },
      ),
      [accountId, type, settlementId ?? null, JSON.stringify(data)],
    )
  },

  findEndpoint: async (accountId) => {
    const { rows } = await pool.query(
      `select ${endpointColumns} from webhook_endpoints e where account_id = $1`,
      [accountId],
    )
    return rows[0] === undefined ? null : readEndpoint(rows[0])
  },

  setEndpoint: async (accountId, endpoint) => {
    if (endpoint === null) {
      await pool.query(
        `with removed as (delete from webhook_endpoints where account_id = $1)
         ${failWaiting('account_id = $1', 'The webhook was removed')}`,
        [accountId],
      )
      return
    }
    await pool.query(
      `insert into webhook_endpoints (account_id, url, sealed_secret) values ($1, $2, $3)
       on conflict (account_id) do update set url = excluded.url, sealed_secret = excluded.sealed_secret,
         previous_sealed_secret = null, previous_until = null, gone_at = null`,
      [accountId, endpoint.url, endpoint.sealedSecret],
    )
  },

  rotateSecret: async (accountId, sealedSecret, overlapMs) => {
    const { rowCount } = await pool.query(
      `update webhook_endpoints set previous_sealed_secret = sealed_secret,
         previous_until = now() + $3 * interval '1 millisecond', sealed_secret = $2 where account_id = $1`,
      [accountId, sealedSecret, overlapMs],
    )
    return rowCount === 1
  },

  leaseDue: async ({ limit, limitPerAccount, except, only, after = '', leaseMs }) => {
    await pool.query(makeReady, [maxReadied])
    const { rows } = await pool.query(only === undefined ? leaseFromAll : leaseFromSome, [
      ...[limit, limitPerAccount, except, leaseMs, after],
      ...(only === undefined ? [] : [only]),
    ])
    return rows.map((row) => ({
      ...readDelivery(row),
      lease: leasedRow.parse(row).lease,
      endpoint: readEndpoint(row),
    }))
  },

  finish: async ({ id, lease, accountId, endpoint }, outcome) => {
    await pool.query(
      `update webhook_deliveries set state = $3, attempts = attempts + 1, lease = null, is_ready = false,
         due_at = now() + $4 * interval '1 millisecond', last_status = $5, last_error = $6, last_attempt_at = now()
       where id = $1 and lease = $2`,
      [id, lease, outcome.state, retryInMs(outcome), outcome.status, outcome.error],
    )
    if (outcome.state !== 'failed' || !outcome.isGone) return
    await pool.query(
      // Only while the endpoint still has the URL that answered 410.
      `with gone as (
         update webhook_endpoints set gone_at = now() where account_id = $1 and url = $2 returning account_id
       )
       ${failWaiting('account_id in (select account_id from gone)', 'The receiver answered 410 to another event')}`,
      [accountId, endpoint.url],
    )
  },

  returnToQueue: async ({ id, lease }) => {
    await pool.query(
      'update webhook_deliveries set lease = null, due_at = now(), is_ready = true where id = $1 and lease = $2',
      [id, lease],
    )
  },

  list: async (accountId, { limit, before, state }) => {
    if (before !== undefined && !uuidForm.test(before)) return []
    const { rows } = await pool.query(
      `select p.* from unnest($4::text[]) as t (state) cross join lateral (
         select ${deliveryColumns} from webhook_deliveries d
         where d.account_id = $1 and d.state = t.state and ($3::uuid is null or (d.created_at, d.id) <
           (select created_at, id from webhook_deliveries where id = $3 and account_id = $1))
         order by d.created_at desc, d.id desc limit $2) p
       order by p."createdAt" desc, p.id desc limit $2`,
      [accountId, limit, before ?? null, state === undefined ? listedStates : [state]],
    )
    return rows.map(readDelivery)
  },

  redeliver: async (accountId, deliveryId) => {
    if (!uuidForm.test(deliveryId)) return null
    const { rows } = await pool.query(
      // A delivery in flight keeps its lease, so that it is not sent twice.
      `update webhook_deliveries d set state = 'waiting', attempts = 0,
         is_ready = not (lease is not null and due_at > now()),
         due_at = case when lease is not null and due_at > now() then due_at else now() end
       where id = $1 and account_id = $2 returning ${deliveryColumns}`,
      [deliveryId, accountId],
    )
    return rows[0] === undefined ? null : readDelivery(rows[0])
  },

  purge: (stopped) =>
    runInBatches(pool, {
      text: `delete from webhook_deliveries where ctid = any(array(
        select ctid from webhook_deliveries where state <> 'waiting' and created_at < now() - ${retention}
        order by created_at limit $1 for update skip locked))`,
      size: 5_000,
      stopped,
    }),
})

const retryInMs = (outcome: AttemptOutcome): number | null =>
  outcome.state === 'waiting' ? outcome.retryInMs : null

const failWaiting = (condition: string, why: string): string =>
  `update webhook_deliveries set state = 'failed', due_at = null, lease = null, last_error = '${why}'
   where state = 'waiting' and ${condition}`
