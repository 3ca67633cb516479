import type { Pool } from 'pg'
import { z } from 'zod'
import type { EventFeed, FeedEvent, WebhookDelivery, WebhookEndpoint } from '../../../ports/webhookOutbox.js'
import { isFinal, isReason } from '../../../protocol/reasons.js'
import { refusalFields } from '../../../protocol/results.js'
import { inTransaction, selectColumns } from '../database/statements.js'
import { newestTransaction } from '../journal/settlementStates.js'

const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A sweep is consumed when it is final: until then the request counts that had it made. */
const consumer = `coalesce(s.consumed_by, case when s.state = 'confirmed' then s.details ->> 'askedBy' end)`

/** The public view of `s`, as `viewSettlement` without the reason's message; events keep this snapshot. `retryable` is in it if the row says so. */
const settlementData = `json_strip_nulls(json_build_object(
  'id', s.id, 'status', case s.state when 'claimed' then 'pending' else s.state end, 'scheme', s.scheme,
  'network', s.network, 'asset', s.asset, 'payer', s.payer, 'payTo', s.pay_to, 'amount', coalesce(s.settled_amount, s.amount)::text,
  'maxAmount', case when s.details ->> 'isShared' is null
    then nullif(s.authorized_amount, coalesce(s.settled_amount, s.amount))::text end,
  'transaction', coalesce(${newestTransaction('s')}, ''), 'errorReason', s.reason, 'resource', s.resource,
  'retryable', case when s.state = 'failed' and (s.consumed_by is not null or s.expires_at <= now()) then false end,
  'idempotencyKey', case when starts_with(${consumer}, 'key:' || s.caller || ':')
    then substr(${consumer}, length(s.caller) + 6) end,
  'createdAt', ${isoTime('s.created_at')}, 'closedAt', ${isoTime('s.closed_at')}))`

/** Of a settlement, `settlement.pending` is inserted once: its index refuses another one. */
interface EventOptions {
  /** Set: that index may refuse a row, which is then left out. It costs a log record for each row that is not. */
  readonly mayBePending?: boolean
}

/**
 * Rows: (account_id, type, settlement_id, data). Cannot fail the statement that changes the state. Without an active
 * webhook the event is stored for the feed.
 */
export const insertEvents = (rows: string, { mayBePending = false }: EventOptions = {}): string =>
  `insert into webhook_deliveries (account_id, type, settlement_id, data, state, due_at)
   select v.account_id, v.type, v.settlement_id, v.data,
     case when e.account_id is null then 'stored' else 'waiting' end,
     case when e.account_id is not null then now() end
   from (${rows}) v left join webhook_endpoints e on e.account_id = v.account_id and e.gone_at is null
   where v.account_id <> 'anonymous'
   ${mayBePending ? 'on conflict do nothing' : ''}`

export const insertSettlementEvents = (relation: string, type: string, options?: EventOptions): string =>
  insertEvents(
    `select s.caller as account_id, ${type} as type, s.id as settlement_id, ${settlementData} as data
     from ${relation} s`,
    options,
  )

const endpointRow = z.object({
  account_id: z.string(),
  url: z.string(),
  sealed_secret: z.instanceof(Buffer),
  previous_sealed_secret: z.instanceof(Buffer).nullable(),
  is_gone: z.boolean(),
})

/** Columns of `webhook_endpoints e`; the previous secret only while it is valid. */
export const endpointColumns = `e.account_id, e.url, e.sealed_secret, e.gone_at is not null as is_gone,
  case when e.previous_until > now() then e.previous_sealed_secret end as previous_sealed_secret`

export const readEndpoint = (value: unknown): WebhookEndpoint => {
  const { account_id: accountId, url, ...row } = endpointRow.parse(value)
  const sealedSecrets = [row.sealed_secret, row.previous_sealed_secret].filter((secret) => secret !== null)
  return { accountId, url, sealedSecrets, isGone: row.is_gone }
}

const deliveryRow = z.object({
  id: z.string(),
  accountId: z.string(),
  type: z.string(),
  data: z.looseObject({
    errorReason: z.string().optional(),
    status: z.string().optional(),
    transaction: z.string().optional(),
    retryable: z.boolean().optional(),
  }),
  createdAt: z.date(),
  state: z.enum(['waiting', 'delivered', 'failed', 'stored']),
  attempts: z.number(),
  dueAt: z.date().nullable(),
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
  lastAttemptAt: z.date().nullable(),
})

/** The alias of the table is `d`. */
export const deliveryColumns = selectColumns('d', deliveryRow.shape)

export const readDelivery = (value: unknown): WebhookDelivery => {
  const row = deliveryRow.parse(value)
  return { ...row, data: withSentence(row.data, row.createdAt) }
}

/** Rows store the reason, and `retryable: false` where the settlement alone is final; the rest comes from the code. */
const withSentence = (data: z.infer<typeof deliveryRow>['data'], createdAt: Date) => {
  const { errorReason, status = '', transaction = null, retryable: stored } = data
  if (errorReason === undefined || !isReason(errorReason)) return data
  const settlement = { state: status, transaction, consumedBy: null, expiresAt: null }
  const isEnded = stored === false || isFinal(errorReason, settlement, createdAt)
  const { message: errorMessage, operationalCode, retryable } = refusalFields(errorReason, undefined, isEnded)
  return { ...data, errorMessage, ...(operationalCode === undefined ? {} : { operationalCode }), retryable }
}

const maxSkipped = 20_000

const lastRow = z.object({ last: z.coerce.bigint() })
const positionRow = z.looseObject({ position: z.coerce.bigint() })
const unnumberedRow = z.object({ exists: z.boolean() })

// Rows that a delivery attempt has locked get a later number: waiting for them could deadlock.
const number = `
  with fresh as (
    select id, row_number() over (order by created_at, id) as place from (
      select id, created_at from webhook_deliveries where account_id = $1 and position is null
      order by created_at, id limit $2 for update skip locked) unnumbered
  ), numbered as (
    update webhook_deliveries d set position = $3 + fresh.place from fresh where d.id = fresh.id
    returning d.position
  )
  update event_counters set last = coalesce((select max(position) from numbered), last)
  where account_id = $1 returning last`

// With `offset`, its few rows are found first, whatever the planner expects of the account's other events.
const ofSettlement = '(select * from webhook_deliveries where settlement_id = $4 offset 0)'

/** `views` must not be a replica: it could lag behind a number that was already read. */
export const createEventFeed = (pool: Pool, views: Pool = pool): EventFeed => {
  const select = async (
    accountId: string,
    { after, limit, settlementId }: Parameters<EventFeed['read']>[1],
  ): Promise<readonly FeedEvent[]> => {
    const { rows } = await views.query(
      `select ${deliveryColumns}, d.position from ${settlementId === undefined ? 'webhook_deliveries' : ofSettlement} d
       where d.account_id = $1 and d.position > $2 order by d.position limit $3`,
      [accountId, after.toString(), limit, ...(settlementId === undefined ? [] : [settlementId])],
    )
    return rows.map((row) => ({ ...readDelivery(row), position: positionRow.parse(row).position }))
  }
  const hasUnnumbered = async (accountId: string): Promise<boolean> => {
    const { rows } = await views.query(
      'select exists (select from webhook_deliveries where account_id = $1 and position is null)',
      [accountId],
    )
    return unnumberedRow.parse(rows[0]).exists
  }
  /** The lock of the counter is held until the commit: numbers become visible in order. */
  const numberNext = (accountId: string, limit: number): Promise<bigint> =>
    inTransaction(pool, async (client) => {
      const { rows: locked } = await client.query(
        `insert into event_counters (account_id) values ($1)
         on conflict (account_id) do update set account_id = excluded.account_id returning last`,
        [accountId],
      )
      const { last } = lastRow.parse(locked[0])
      const { rows } = await client.query(number, [accountId, limit, last.toString()])
      return lastRow.parse(rows[0]).last
    })
  const findLast = async (accountId: string): Promise<bigint> => {
    const { rows } = await views.query('select last from event_counters where account_id = $1', [accountId])
    return rows[0] === undefined ? 0n : lastRow.parse(rows[0]).last
  }

  return {
    read: async (accountId, page) => {
      const { after, limit, settlementId } = page
      // Before the page is read: what another reader numbers meanwhile is then on it.
      if (await hasUnnumbered(accountId))
        await numberNext(accountId, settlementId === undefined ? limit : maxSkipped)
      const found = await select(accountId, page)
      const isUnknown = found.length === 0 && after > 0n && after > (await findLast(accountId))
      return isUnknown ? null : found
    },
    skip: async (accountId) => {
      const position = await numberNext(accountId, maxSkipped)
      return { position, isEnd: !(await hasUnnumbered(accountId)) }
    },
  }
}
