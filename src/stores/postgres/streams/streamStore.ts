import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import type {
  OpenedStream,
  Stream,
  StreamOpening,
  StreamPace,
  StreamQuota,
  StreamStore,
  StreamToSettle,
} from '../../../ports/streamStore.js'
import { streamStates } from '../../../protocol/streams.js'
import { coalesce, createKeyQueue } from '../database/coalesce.js'
import { toCallerError } from '../database/databaseErrors.js'
import { maxCallMs } from '../database/pool.js'
import { inTransaction, toMonth, uuidForm } from '../database/statements.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { changeStreams } from './changeStreams.js'
import { readStream, streamColumns } from './streamRow.js'

const withPayment = z.looseObject({ payment: z.unknown() })
const idRow = z.object({ id: z.string() })
const owedRow = z.object({ authorization_id: z.string(), owed: z.string().transform(BigInt) })
const networkRow = z.object({ network: z.string() })
const openCount = z.object({
  network: z.string(),
  state: z.enum(streamStates),
  count: z.string().transform(Number),
  oldest_seconds: z.number(),
})

const readWithPayment = (value: unknown): StreamToSettle => ({
  stream: readStream(value),
  payment: withPayment.parse(value).payment,
})

// A channel pays without a stored payment, so that versions before channels do not settle the stream.
const fromPaid = (streams: string) => `from ${streams} s left join stream_payments p on p.stream_id = s.id`
const isPaid = '(p.payment is not null or s.channel is not null)'

// Each voucher of a channel asks for it.
const findAllOpen = (pool: Pool) => async (authorizationIds: readonly string[]) => {
  const { rows } = await pool.query(
    `select ${streamColumns} from streams s
     where s.authorization_id = any($1) and s.state in ('active', 'paused', 'closing')`,
    [[...new Set(authorizationIds)]],
  )
  const found = new Map(rows.map(readStream).map((stream) => [stream.authorizationId, stream]))
  return authorizationIds.map((id) => found.get(id) ?? null)
}

// So does the charge that it must cover.
const findAllOwed = (pool: Pool) => async (authorizationIds: readonly string[]) => {
  const { rows } = await pool.query(
    `select authorization_id, max(baseline + final_amount)::text as owed from (
       select authorization_id, baseline, final_amount from streams
       where authorization_id = any($1) and state in ('active', 'paused', 'closing') and channel is not null
       union all
       select authorization_id, baseline, final_amount from streams
       where authorization_id = any($1) and state = 'failed' and channel is not null) s
     where final_amount is not null group by authorization_id`,
    [[...new Set(authorizationIds)]],
  )
  const found = new Map(
    rows.map((each) => owedRow.parse(each)).map(({ authorization_id: id, owed }) => [id, owed]),
  )
  return authorizationIds.map((id) => found.get(id) ?? 0n)
}

/** Concurrent changes share transactions: one commit acknowledges many. */
export const createStreamStore = (pool: Pool): StreamStore => {
  const queues = { updates: coalesce(changeStreams(pool)), closes: coalesce(changeStreams(pool)) }

  const findWhere = async (condition: string, value: string): Promise<Stream | null> => {
    const { rows } = await pool.query(`select ${streamColumns} from streams s where ${condition}`, [value])
    return rows[0] === undefined ? null : readStream(rows[0])
  }

  return {
    open: openStream(pool),

    change: async (id, decide, queue = 'updates') =>
      uuidForm.test(id) ? await queues[queue]({ id, decide }) : decide(null),

    find: async (id) => (uuidForm.test(id) ? await findWhere('s.id = $1', id) : null),

    findOpen: coalesce(findAllOpen(pool)),

    findOwed: coalesce(findAllOwed(pool)),

    findToSettle: async (id) => {
      const { rows } = await pool.query(
        `select ${streamColumns}, p.payment ${fromPaid('streams')} where s.id = $1 and ${isPaid}
           and s.state in ('active', 'paused', 'closing')`,
        [id],
      )
      return rows[0] === undefined ? null : readWithPayment(rows[0])
    },

    list: async ({ caller, state, limit, after }) => {
      const { rows } = await pool.query(
        `select ${streamColumns} from streams s
         where s.caller = $1 ${state === null ? '' : 'and s.state = $4'}
           and ($3::uuid is null or (s.created_at, s.id)
             < (select c.created_at, c.id from streams c where c.id = $3 and c.caller = $1))
         order by s.created_at desc, s.id desc limit $2`,
        state === null ? [caller, limit, after] : [caller, limit, after, state],
      )
      return rows.map(readStream)
    },

    listDue: async (now, limit) => {
      const { rows } = await pool.query(
        `select id from streams where state in ('active', 'paused') and closes_at <= $1 order by closes_at limit $2`,
        [now, limit],
      )
      return rows.map((row) => idRow.parse(row).id)
    },

    listClosingNetworks: async (now) => {
      const { rows } = await pool.query(
        `select distinct network from streams where state = 'closing' and attend_at <= $1`,
        [now],
      )
      return rows.map((row) => networkRow.parse(row).network)
    },

    // An array is selected once, here and in `takeToCheck`. `in` may be joined by a nested loop, which selects anew for each
    // stream, without those that the statement has just taken.
    leaseClosing: async ({ network, now, leasedUntil, limit }) => {
      const { rows } = await pool.query(
        `with leased as (
           update streams set attend_at = $3 where id = any(array(
             select id from streams where state = 'closing' and network = $1 and attend_at <= $2
             order by settles_until limit $4 for update skip locked))
           returning *)
         select ${streamColumns}, p.payment ${fromPaid('leased')} where ${isPaid}`,
        [network, now, leasedUntil, limit],
      )
      return rows.map(readWithPayment)
    },

    takeToCheck: async (before, now, limit) => {
      const { rows } = await pool.query(
        `with due as (
           select id, checked_at, row_number() over (
             partition by coalesce(quota_holder, caller) order by checked_at) as turn
           from streams where state in ('active', 'paused') and checked_at < $1),
         taken as (
           update streams set checked_at = $2 where id = any(array(
             select id from streams where state in ('active', 'paused') and checked_at < $1
               and id in (select id from due order by turn, checked_at limit $3) for update skip locked))
           returning *)
         select ${streamColumns}, p.payment ${fromPaid('taken')} where ${isPaid}`,
        [before, now, limit],
      )
      return rows.map(readWithPayment)
    },

    countOpen: async () => {
      // As the partial unique index has it, so that streams that have ended cost nothing.
      const { rows } = await pool.query(
        `select network, state, count(*) as count,
           extract(epoch from now() - min(updated_at))::float8 as oldest_seconds
         from streams where state in ('active', 'paused', 'closing') group by network, state`,
      )
      return rows.map((value) => {
        const { oldest_seconds: oldestSeconds, ...rest } = openCount.parse(value)
        return { ...rest, oldestSeconds }
      })
    },
  }
}

// One statement: others wait for the lock of the network meanwhile, on a busy machine for each answer anew.
const insert = `
  with opened as (
    insert into streams (id, authorization_id, caller, control_digest, fingerprint, quota_holder, fee_rate, scheme, network,
      asset, payer, pay_to, max_amount, metadata, created_at, closes_at, settles_until, state, amount, sequence, updates,
      updated_at, checked_at, channel, baseline, voucher, ceiling)
    values ($1, $2, $3, decode($4, 'hex'), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
      $22, $15, $26, $27, $28, $29)
  ), held as (insert into stream_payments (stream_id, payment) select $1, $23::json where $26::json is null)
  ${insertEvents('select $3::text as account_id, $24::text as type, null::uuid as settlement_id, $25::json as data')}`

// Class 18 keeps it apart from other advisory locks. Streams of one holder are counted one after the other.
const lock = '/* stream */ select pg_advisory_xact_lock(hashtextextended($1, 18))'

const count = `
  select (select count(*) from streams where quota_holder = $1 and state in ('active', 'paused', 'closing')) as open,
    coalesce((select used from quota_uses where account_id = $1 and month = $2), 0) as used`

const counted = z.object({ open: z.coerce.number(), used: z.coerce.number() })

const isExhausted = async (client: PoolClient, quota: StreamQuota, at: Date): Promise<boolean> => {
  await client.query(lock, [quota.customer])
  const { rows } = await client.query(count, [quota.customer, toMonth(at)])
  const { open, used } = counted.parse(rows[0])
  return open + used >= quota.monthlyQuota
}

// The streams of a network are placed one after the other.
const countEnding = `
  select count(*) as others, count(*) filter (where coalesce(quota_holder, caller) = $5) as own from streams
  where network = $1 and state in ('active', 'paused', 'closing')
    and settles_until between $2::timestamptz - $3 * interval '1 millisecond' and $2::timestamptz + $3 * interval '1 millisecond'
    and settles_until - closes_at <= $4 * interval '1 millisecond'`

const ending = z.object({ others: z.coerce.number(), own: z.coerce.number() })

const place = async (
  client: PoolClient,
  { network, settlesUntil, caller, quota }: StreamOpening['stream'],
  { windowMs, maxMarginMs, place: placeBeside }: StreamPace,
): Promise<Pick<StreamOpening, 'stream' | 'event'> | null> => {
  await client.query(lock, [`ending on ${network}`])
  const customer = quota?.customer ?? caller
  const { rows } = await client.query(countEnding, [network, settlesUntil, windowMs, maxMarginMs, customer])
  return placeBeside(ending.parse(rows[0]))
}

const maxLockWaitMs = 1_000

/**
 * The unique index decides which of several streams gets an authorization. Streams that need a place wait for each other here,
 * one connection per network: a flood of them leaves the pool to others. For those of other instances they wait a second.
 */
const openStream = (pool: Pool) => {
  const inTurn = createKeyQueue()

  const store = (
    { stream: wanted, event, payment, quota, pace }: StreamOpening,
    endsAt: number,
  ): Promise<OpenedStream> =>
    inTransaction(
      pool,
      async (client) => {
        if (quota !== null && (await isExhausted(client, quota, wanted.createdAt))) return 'exhausted'
        const placed = pace === undefined ? { stream: wanted, event } : await place(client, wanted, pace)
        if (placed === null) return 'crowded'
        await write(client, placed, payment)
        return 'opened'
      },
      { lockTimeoutMs: maxLockWaitMs, endsAt },
    )

  return async (opening: StreamOpening): Promise<OpenedStream> => {
    try {
      return opening.pace === undefined
        ? await store(opening, performance.now() + maxCallMs)
        : await inTurn(opening.stream.network, (endsAt) => store(opening, endsAt))
    } catch (error) {
      if (error instanceof DatabaseError && error.constraint === 'streams_of_authorization') return 'taken'
      throw toCallerError(error)
    }
  }
}

const write = async (
  client: PoolClient,
  { stream, event }: Pick<StreamOpening, 'stream' | 'event'>,
  payment: unknown,
): Promise<void> => {
  await client.query(insert, [
    stream.id,
    stream.authorizationId,
    stream.caller,
    stream.controlDigest,
    stream.fingerprint,
    stream.quota?.customer ?? null,
    stream.quota?.feeRate ?? null,
    stream.scheme,
    stream.network,
    stream.asset,
    stream.payer,
    stream.payTo,
    stream.maxAmount.toString(),
    stream.metadata,
    stream.createdAt,
    stream.closesAt,
    stream.settlesUntil,
    stream.state,
    stream.amount.toString(),
    stream.sequence,
    stream.updates,
    stream.updatedAt,
    JSON.stringify(payment),
    event.type,
    JSON.stringify(event.data),
    stream.channel === null ? null : JSON.stringify({ id: stream.channel.id, config: stream.channel.config }),
    stream.channel?.baseline.toString() ?? null,
    stream.voucher,
    stream.ceiling?.toString() ?? null,
  ])
}
