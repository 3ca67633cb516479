import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { sleep } from '../../../concurrency/deadline.js'
import type { BackfillBatch, Backfills } from '../../../ports/backfills.js'
import { isLockConflict } from './databaseErrors.js'
import { type Backfill, type Migration, readMigrations } from './migrationFiles.js'
import { inTransaction } from './statements.js'

/** Written by the runner of migrations, and part of no backup. */
export const backfillTable = `
  create table if not exists schema_backfill (
    name text primary key,
    -- Key of the last row of the last batch; null: no batch has run.
    cursor text,
    batches bigint not null default 0,
    started_at timestamptz not null default now(),
    finished_at timestamptz
  )`

/**
 * A migration that is applied again, and a database that is filled from a backup, start it again. A new database has no rows
 * of older versions: it has ended there.
 */
export const startBackfill = async (
  client: PoolClient,
  { name }: Backfill,
  { isNew = false } = {},
): Promise<void> => {
  await client.query(
    `insert into schema_backfill (name, finished_at) values ($1, case when $2 then now() end)
     on conflict (name) do update
       set cursor = null, batches = 0, started_at = now(), finished_at = excluded.finished_at`,
    [name, isNew],
  )
}

const batchSize = 500

// Less than `deadlock_timeout` (1 s): Postgres would end the payment as often as the batch.
const lockTimeoutMs = 500

const pendingRows = z.array(z.object({ name: z.string(), cursor: z.string().nullable() })).max(1)
const batchRows = z.tuple([z.object({ cursor: z.string().nullable() })])

interface BatchOptions {
  readonly size?: number
}

/**
 * Runs the next batch of the oldest unfinished backfill, with its progress in one transaction: a batch runs once, also
 * where two instances try. Null: there is none, or another instance runs its batch.
 */
export const runBackfillBatch = async (
  pool: Pool,
  backfills: readonly Backfill[],
  { size = batchSize }: BatchOptions = {},
): Promise<BackfillBatch | null> => {
  try {
    return await inTransaction(pool, (client) => runBatch(client, backfills, size), { lockTimeoutMs })
  } catch (error) {
    // Payments have the rows; the batch runs later.
    if (isLockConflict(error)) return { name: null, isFinished: false }
    throw error
  }
}

const runBatch = async (
  client: PoolClient,
  backfills: readonly Backfill[],
  size: number,
): Promise<BackfillBatch | null> => {
  const { rows } = await client.query(
    `select name, cursor from schema_backfill where name = any($1) and finished_at is null
     order by started_at, name limit 1 for update skip locked`,
    [backfills.map(({ name }) => name)],
  )
  const [pending] = pendingRows.parse(rows)
  const backfill = backfills.find(({ name }) => name === pending?.name)
  if (pending === undefined || backfill === undefined) return null
  const [{ cursor }] = batchRows.parse((await client.query(backfill.sql, [pending.cursor, size])).rows)
  await client.query(
    `update schema_backfill set cursor = coalesce($2, cursor), batches = batches + 1,
       finished_at = case when $2::text is null then now() end
     where name = $1`,
    [backfill.name, cursor],
  )
  return { name: backfill.name, isFinished: cursor === null }
}

export const listBackfills = (migrations: readonly Migration[]): readonly Backfill[] =>
  migrations.flatMap(({ backfill }) => backfill ?? [])

export const createBackfills = (pool: Pool, folder: URL): Backfills => {
  const read = readMigrations(folder).then(listBackfills)
  // A call reports it.
  read.catch(() => undefined)
  return { runBatch: async () => await runBackfillBatch(pool, await read) }
}

const pauseMs = 100

/** Waits for the end of a backfill, and runs its batches unless another instance does. */
export const completeBackfill = async (pool: Pool, backfill: Backfill): Promise<void> => {
  for (;;) {
    const { rowCount } = await pool.query(
      'select from schema_backfill where name = $1 and finished_at is not null',
      [backfill.name],
    )
    if (rowCount === 1) return
    await runBackfillBatch(pool, [backfill])
    await sleep(pauseMs)
  }
}
