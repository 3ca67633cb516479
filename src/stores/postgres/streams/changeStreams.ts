import type { Pool, PoolClient } from 'pg'
import type { DecideStream, Stream, StreamDecision, StreamEventRecord } from '../../../ports/streamStore.js'
import { InputFailure, type RunBatch } from '../database/coalesce.js'
import { isLockTimeout } from '../database/databaseErrors.js'
import { inTransaction, type TransactionOptions } from '../database/statements.js'
import { insertEvents } from '../webhooks/webhookEvents.js'
import { hasEnded, readStream, streamColumns } from './streamRow.js'

interface StreamChange {
  readonly id: string
  readonly decide: DecideStream
}

type Decisions = ReadonlyMap<StreamChange, StreamDecision>

// In the order of ids, as every batch locks them, so that no two wait for each other.
const lock = `select ${streamColumns} from streams s where s.id = any($1::uuid[]) order by s.id for update`
const lockFree = `${lock} skip locked`

interface Column {
  readonly name: string
  readonly type: string
  readonly read: (stream: Stream) => unknown
}

/** What a change can write. */
const columns: readonly Column[] = [
  { name: 'state', type: 'text', read: ({ state }) => state },
  { name: 'amount', type: 'numeric', read: ({ amount }) => amount.toString() },
  { name: 'sequence', type: 'bigint', read: ({ sequence }) => sequence },
  { name: 'updates', type: 'bigint', read: ({ updates }) => updates },
  { name: 'voucher', type: 'text', read: ({ voucher }) => voucher },
  { name: 'ceiling', type: 'numeric', read: ({ ceiling }) => ceiling?.toString() ?? null },
  { name: 'claim_signature', type: 'text', read: ({ claimSignature }) => claimSignature },
  { name: 'final_amount', type: 'numeric', read: ({ finalAmount }) => finalAmount?.toString() ?? null },
  { name: 'settlement_id', type: 'uuid', read: ({ settlementId }) => settlementId },
  { name: 'transaction', type: 'text', read: ({ transaction }) => transaction },
  { name: 'settled_amount', type: 'numeric', read: ({ settledAmount }) => settledAmount?.toString() ?? null },
  { name: 'reason', type: 'text', read: ({ reason }) => reason },
  { name: 'risk', type: 'text', read: ({ risk }) => risk },
  { name: 'updated_at', type: 'timestamptz', read: ({ updatedAt }) => updatedAt },
  { name: 'closed_at', type: 'timestamptz', read: ({ closedAt }) => closedAt },
  { name: 'attend_at', type: 'timestamptz', read: ({ attendAt }) => attendAt },
  { name: 'attempts', type: 'integer', read: ({ attempts }) => attempts },
  { name: 'refusals', type: 'integer', read: ({ refusals }) => refusals },
  { name: 'refused_at', type: 'timestamptz', read: ({ refusedAt }) => refusedAt },
  { name: 'reverts', type: 'integer', read: ({ reverts }) => reverts },
]

const names = columns.map(({ name }) => name)

const write = `
  update streams s set ${names.map((name) => `${name} = c.${name}`).join(', ')}
  from unnest($1::uuid[], ${columns.map(({ type }, index) => `$${index + 2}::${type}[]`).join(', ')})
    as c (id, ${names.join(', ')})
  where s.id = c.id`

const valuesOf = (streams: readonly Stream[]): unknown[] => [
  streams.map(({ id }) => id),
  ...columns.map(({ read }) => streams.map(read)),
]

// Longer than another batch takes to commit.
const maxSharedWaitMs = 250
// For each row that stays locked, where there are several.
const maxAloneWaitMs = 1_000

/**
 * One transaction for a batch: locks the rows, decides one command after the other, and writes the last state of each
 * row once. Many commands for one stream share its row version. A batch that meets a row which stays locked is given up:
 * else it would keep its other rows locked meanwhile. Then the rows that are free are changed together, and those of each
 * other stream after them, until their callers stop waiting.
 */
export const changeStreams = (pool: Pool): RunBatch<StreamChange, StreamDecision> => {
  const inTurn = createTurns()

  const change = (
    changes: readonly StreamChange[],
    lockRows: string,
    limits: TransactionOptions,
  ): Promise<Decisions> => {
    const ids = listIds(changes)
    return inTurn(ids, (onLocked) =>
      inTransaction(
        pool,
        async (client) => {
          const { rows } = await client.query(lockRows, [ids])
          onLocked()
          const current = new Map(rows.map(readStream).map((stream) => [stream.id, stream]))
          // What does not exist is among the locked ones, whose turn comes.
          const free = lockRows === lockFree ? changes.filter(({ id }) => current.has(id)) : changes
          return await changeRows(client, current, free)
        },
        limits,
      ),
    )
  }

  const changeFreeFirst = async (changes: readonly StreamChange[], endsAt: number) => {
    const outputs = new Map<StreamChange, StreamDecision | InputFailure>(
      await change(changes, lockFree, { endsAt }),
    )
    const locked = changes.filter((each) => !outputs.has(each))
    const ids = listIds(locked)
    const limits = ids.length > 1 ? { endsAt, lockTimeoutMs: maxAloneWaitMs } : { endsAt }
    for (const id of ids) {
      const own = locked.filter((each) => each.id === id)
      try {
        for (const [each, decision] of await change(own, lock, limits)) outputs.set(each, decision)
      } catch (error) {
        for (const each of own) outputs.set(each, new InputFailure(error))
      }
    }
    return outputs
  }

  return async (changes, endsAt) => {
    const isShared = listIds(changes).length > 1
    const outputs = await change(
      changes,
      lock,
      isShared ? { endsAt, lockTimeoutMs: maxSharedWaitMs } : { endsAt },
    ).catch((error: unknown) => {
      if (!isShared || !isLockTimeout(error)) throw error
      return changeFreeFirst(changes, endsAt)
    })
    return changes.map((each) => outputs.get(each))
  }
}

const listIds = (changes: readonly StreamChange[]): readonly string[] => [
  ...new Set(changes.map(({ id }) => id)),
]

/**
 * Of two batches for one stream the later one asks for the row when the earlier one has it: on another connection it could
 * overtake, and the updates that came first would be refused.
 */
const createTurns = () => {
  const newest = new Map<string, Promise<void>>()
  return async <T>(ids: readonly string[], work: (onLocked: () => void) => Promise<T>): Promise<T> => {
    const earlier = ids.flatMap((id) => newest.get(id) ?? [])
    let onLocked = (): void => undefined
    const locked = new Promise<void>((resolve) => {
      onLocked = resolve
    })
    for (const id of ids) newest.set(id, locked)
    try {
      await Promise.all(earlier)
      return await work(onLocked)
    } finally {
      onLocked()
      for (const id of ids) if (newest.get(id) === locked) newest.delete(id)
    }
  }
}

/** Changes `current`. */
const changeRows = async (
  client: PoolClient,
  current: Map<string, Stream>,
  changes: readonly StreamChange[],
): Promise<Decisions> => {
  const changed = new Map<string, Stream>()
  const events: EventOfStream[] = []
  const decisions = new Map<StreamChange, StreamDecision>()
  for (const each of changes) {
    const decision = each.decide(current.get(each.id) ?? null)
    decisions.set(each, decision)
    if (decision.state !== 'changed') continue
    const { stream } = decision
    current.set(each.id, stream)
    changed.set(each.id, stream)
    events.push(...decision.events.map((event) => ({ stream, event })))
  }
  if (changed.size > 0) await client.query(write, valuesOf([...changed.values()]))
  await deletePayments(client, [...changed.values()].filter(hasEnded))
  await insertStreamEvents(client, events)
  return decisions
}

const deletePayments = async (client: PoolClient, ended: readonly Stream[]): Promise<void> => {
  if (ended.length === 0) return
  await client.query('delete from stream_payments where stream_id = any($1::uuid[])', [
    ended.map(({ id }) => id),
  ])
}

interface EventOfStream {
  readonly stream: Pick<Stream, 'caller'>
  readonly event: StreamEventRecord
}

const insertStreamEvents = async (client: PoolClient, events: readonly EventOfStream[]): Promise<void> => {
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
