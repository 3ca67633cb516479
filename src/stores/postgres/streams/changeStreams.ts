import type { Pool, PoolClient } from 'pg'
import type { DecideStream, Stream, StreamDecision, StreamEventRecord } from '../../../ports/streamStore.js'
import type { RunBatch } from '../database/coalesce.js'
import { inTransaction } from '../database/transaction.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { hasEnded, readStream, streamColumns } from './streamRow.js'

export interface StreamChange {
  readonly id: string
  readonly decide: DecideStream
}

// In the order of ids, as every batch locks them, so that no two wait for each other.
const lock = `select ${streamColumns} from streams s where s.id = any($1::uuid[]) order by s.id for update`

const write = `
  update streams s set state = c.state, amount = c.amount, sequence = c.sequence, updates = c.updates,
    voucher = c.voucher, final_amount = c.final_amount, settlement_id = c.settlement_id, transaction = c.transaction,
    settled_amount = c.settled_amount, reason = c.reason, risk = c.risk, updated_at = c.updated_at,
    closed_at = c.closed_at, attend_at = c.attend_at, attempts = c.attempts, refusals = c.refusals,
    refused_at = c.refused_at, reverts = c.reverts
  from unnest($1::uuid[], $2::text[], $3::numeric[], $4::bigint[], $5::bigint[], $6::text[], $7::numeric[], $8::uuid[],
    $9::text[], $10::numeric[], $11::text[], $12::text[], $13::timestamptz[], $14::timestamptz[], $15::timestamptz[],
    $16::integer[], $17::integer[], $18::timestamptz[], $19::integer[])
    as c (id, state, amount, sequence, updates, voucher, final_amount, settlement_id, transaction, settled_amount, reason,
      risk, updated_at, closed_at, attend_at, attempts, refusals, refused_at, reverts)
  where s.id = c.id`

const columnsOf = (streams: readonly Stream[]): readonly unknown[] => {
  const column = (read: (stream: Stream) => unknown): readonly unknown[] => streams.map(read)
  return [
    column(({ id }) => id),
    column(({ state }) => state),
    column(({ amount }) => amount.toString()),
    column(({ sequence }) => sequence),
    column(({ updates }) => updates),
    column(({ voucher }) => voucher),
    column(({ finalAmount }) => finalAmount?.toString() ?? null),
    column(({ settlementId }) => settlementId),
    column(({ transaction }) => transaction),
    column(({ settledAmount }) => settledAmount?.toString() ?? null),
    column(({ reason }) => reason),
    column(({ risk }) => risk),
    column(({ updatedAt }) => updatedAt),
    column(({ closedAt }) => closedAt),
    column(({ attendAt }) => attendAt),
    column(({ attempts }) => attempts),
    column(({ refusals }) => refusals),
    column(({ refusedAt }) => refusedAt),
    column(({ reverts }) => reverts),
  ]
}

/**
 * One transaction for a batch: locks the rows, decides one command after the other, and writes the last state of each
 * row once. Many commands for one stream share its row version.
 */
export const changeStreams =
  (pool: Pool): RunBatch<StreamChange, StreamDecision> =>
  async (changes) =>
    await inTransaction(pool, async (client) => {
      const ids = [...new Set(changes.map(({ id }) => id))]
      const { rows } = await client.query(lock, [ids])
      const current = new Map(rows.map(readStream).map((stream) => [stream.id, stream]))
      const changed = new Map<string, Stream>()
      const events: EventOfStream[] = []
      const decisions = changes.map(({ id, decide }) => {
        const decision = decide(current.get(id) ?? null)
        if (decision.state === 'changed') {
          const { stream } = decision
          current.set(id, stream)
          changed.set(id, stream)
          events.push(...decision.events.map((event) => ({ stream, event })))
        }
        return decision
      })
      if (changed.size > 0) await client.query(write, [...columnsOf([...changed.values()])])
      await deletePayments(client, [...changed.values()].filter(hasEnded))
      await insertStreamEvents(client, events)
      return decisions
    })

const deletePayments = async (client: PoolClient, ended: readonly Stream[]): Promise<void> => {
  if (ended.length === 0) return
  await client.query('delete from stream_payments where stream_id = any($1::uuid[])', [
    ended.map(({ id }) => id),
  ])
}

export interface EventOfStream {
  readonly stream: Pick<Stream, 'caller'>
  readonly event: StreamEventRecord
}

export const insertStreamEvents = async (
  client: PoolClient,
  events: readonly EventOfStream[],
): Promise<void> => {
  if (events.length === 0) return
  await client.query(
    insertEvents(
      `select n.account_id, n.type, null::uuid as settlement_id, n.data::json as data
       from unnest($1::text[], $2::text[], $3::text[]) as n (account_id, type, data)`,
    ),
    [
      events.map(({ stream }) => stream.caller),
      events.map(({ event }) => event.type),
      events.map(({ event }) => JSON.stringify(event.data)),
    ],
  )
}
