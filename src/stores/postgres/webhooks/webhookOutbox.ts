import type { Pool } from 'pg'
import { z } from 'zod'
import type { AttemptOutcome, WebhookOutbox } from '../../../ports/webhookOutbox.js'
import { uuidForm } from '../database/uuidForm.js'
import { insertEvents } from './webhookEvents.js'
import { deliveryColumns, endpointColumns, readDelivery, readEndpoint } from './webhookRow.js'

const retention = "interval '30 days'"

const leasedRow = z.looseObject({ lease: z.string() })

/** The database's clock decides what is due: clock skew between instances has no effect. */
export const createWebhookOutbox = (pool: Pool): WebhookOutbox => ({
  enqueue: async ({ accountId, type, data, settlementId }) => {
    await pool.query(
      insertEvents(
        'select $1::text as account_id, $2::text as type, $3::uuid as settlement_id, $4::json as data',
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

  leaseDue: async ({ limit, limitPerAccount, except, leaseMs }) => {
    const { rows } = await pool.query(
      // Per endpoint: a backlog does not slow the query. In random order: failing endpoints do not starve
      // others.
      `with due as (
         select d.id from webhook_endpoints e cross join lateral (
           select id from webhook_deliveries
           where account_id = e.account_id and state = 'waiting' and due_at <= now()
           order by due_at limit $2 for update skip locked) d
         where e.account_id <> all($3) order by random() limit $1
       ), leased as (
         update webhook_deliveries d set lease = gen_random_uuid(),
           due_at = now() + $4 * interval '1 millisecond'
         from due where d.id = due.id returning d.*
       )
       select ${deliveryColumns}, d.lease, ${endpointColumns}
       from leased d join webhook_endpoints e on e.account_id = d.account_id order by d.created_at, d.id`,
      [limit, limitPerAccount, except, leaseMs],
    )
    return rows.map((row) => ({
      ...readDelivery(row),
      lease: leasedRow.parse(row).lease,
      endpoint: readEndpoint(row),
    }))
  },

  finish: async ({ id, lease, accountId, endpoint }, outcome) => {
    await pool.query(
      `update webhook_deliveries set state = $3, attempts = attempts + 1, lease = null,
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
      'update webhook_deliveries set lease = null, due_at = now() where id = $1 and lease = $2',
      [id, lease],
    )
  },

  list: async (accountId, { limit, before }) => {
    if (before !== undefined && !uuidForm.test(before)) return []
    const { rows } = await pool.query(
      `select ${deliveryColumns} from webhook_deliveries d
       where account_id = $1 and ($3::uuid is null or (created_at, id) <
         (select created_at, id from webhook_deliveries where id = $3 and account_id = $1))
       order by created_at desc, id desc limit $2`,
      [accountId, limit, before ?? null],
    )
    return rows.map(readDelivery)
  },

  redeliver: async (accountId, deliveryId) => {
    if (!uuidForm.test(deliveryId)) return null
    const { rows } = await pool.query(
      // A delivery in flight keeps its lease, so that it is not sent twice.
      `update webhook_deliveries d set state = 'waiting', attempts = 0,
         due_at = case when lease is not null and due_at > now() then due_at else now() end
       where id = $1 and account_id = $2 returning ${deliveryColumns}`,
      [deliveryId, accountId],
    )
    return rows[0] === undefined ? null : readDelivery(rows[0])
  },

  purge: async () => {
    await pool.query(
      `delete from webhook_deliveries where state <> 'waiting' and created_at < now() - ${retention}`,
    )
  },
})

const retryInMs = (outcome: AttemptOutcome): number | null =>
  outcome.state === 'waiting' ? outcome.retryInMs : null

const failWaiting = (condition: string, why: string): string =>
  `update webhook_deliveries set state = 'failed', due_at = null, lease = null, last_error = '${why}'
   where state = 'waiting' and ${condition}`
