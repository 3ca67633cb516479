import { Pool, type PoolClient } from 'pg'
import { sleep } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'
import { backfillTable, completeBackfill, listBackfills, startBackfill } from './backfills.js'
import { buildIndex } from './buildIndex.js'
import { isLockConflict } from './databaseErrors.js'
import { type IndexBuild, type Migration, readMigrations } from './migrationFiles.js'
import {
  checkHistory,
  listUnknown,
  OlderInstancesError,
  readHistory,
  refuseOlderInstances,
} from './schemaHistory.js'
import { inTransaction, unlimitedMs } from './statements.js'

/**
 * Arbitrary, but unique among the advisory locks of this database. `step` is held by a transaction that changes the schema;
 * versions before 0040 wait for it in a statement. `run` is only ever tried: a statement that waits has a snapshot, and an
 * index that is built concurrently would wait for it.
 */
const locks = { step: 7_140_402, run: 7_140_403 } as const

export interface MigrateOptions {
  readonly logger?: Pick<Logger, 'info' | 'warn'>
  /** No other process can use the database. Default: others may. */
  readonly isAlone?: boolean
  /** How long a statement waits for a lock: meanwhile, what needs the table waits behind it. */
  readonly lockTimeoutMs?: number
  /** The pause before a file is tried again; it doubles up to 10 times as much. */
  readonly retryPauseMs?: number
  /** After that, an index that waits for other transactions is logged with them; each pause until the next time doubles. */
  readonly reportWaitsAfterMs?: number
  /** After that, locks that others hold are an error. */
  readonly giveUpAfterMs?: number
}

export interface Migrated {
  readonly applied: readonly string[]
  /** Migrations of later versions, beside which this one runs. */
  readonly unknown: readonly string[]
  /** Number of the newest migration that this version has. */
  readonly newest: number
}

const defaults = {
  // More than `deadlock_timeout` (1 s): only then does Postgres end an automatic vacuum that is in the way. That of a large
  // journal takes longer than a start waits.
  lockTimeoutMs: 1_200,
  retryPauseMs: 500,
  reportWaitsAfterMs: 3_000,
  giveUpAfterMs: 600_000,
}

type Settings = typeof defaults & MigrateOptions

/**
 * Applies missing files `NNNN_what.sql` in order; any number of instances may start at once. Each runs in a transaction
 * under an advisory lock, or builds one index outside, and is tried again while others hold the locks that it needs. Throws an
 * operator-facing error when files and database do not match.
 */
export async function migrate(
  pool: Pool,
  folder: URL | string,
  options: MigrateOptions = {},
): Promise<Migrated> {
  const migrations = await readMigrations(folder)
  const settings = { ...defaults, ...options }
  const applied = (await isPending(pool, migrations)) ? await applyAll(pool, migrations, settings) : []
  return { applied, unknown: listUnknown(await readHistory(pool), migrations), newest: migrations.length }
}

async function isPending(pool: Pool, migrations: readonly Migration[]): Promise<boolean> {
  const { rows } = await pool.query(`select to_regclass('schema_migration') is not null as is_there`)
  if (rows[0]?.is_there !== true) return true
  const history = await readHistory(pool)
  checkHistory(history, migrations)
  return history.length < migrations.length
}

async function applyAll(
  pool: Pool,
  migrations: readonly Migration[],
  settings: Settings,
): Promise<readonly string[]> {
  // Connections of their own, without time limits. PgBouncer in transaction mode ignores the limits, and keeps nothing but a
  // transaction with one server.
  const unlimited = new Pool({
    ...pool.options,
    // The lock of the run, a step or an index, and a look at what an index waits for.
    max: 3,
    statement_timeout: unlimitedMs,
    query_timeout: unlimitedMs,
    idle_in_transaction_session_timeout: unlimitedMs,
  })
  unlimited.on('error', () => undefined)
  unlimited.on('connect', (client) => void client.on('error', () => undefined))
  try {
    return await runAlone(unlimited, settings, () => applyEach(unlimited, migrations, settings))
  } finally {
    await unlimited.end()
  }
}

const pollMs = 200

/** Waits for as long as another instance migrates. */
const runAlone = <T>(pool: Pool, { logger }: Settings, work: () => Promise<T>): Promise<T> =>
  whenFree(pool, {
    lock: `pg_try_advisory_xact_lock(${locks.run})`,
    work,
    onWait: () => logger?.info({}, 'database.migration_waits'),
  })

interface Wait<T> {
  readonly lock: string
  readonly work: (client: PoolClient) => Promise<T>
  readonly onWait?: () => void
}

async function whenFree<T>(pool: Pool, { lock, work, onWait }: Wait<T>): Promise<T> {
  for (let isWaiting = false; ; isWaiting = true) {
    const done = await inTransaction(pool, async (client) =>
      (await tryLock(client, lock)) ? { result: await work(client) } : null,
    )
    if (done !== null) return done.result
    if (!isWaiting) onWait?.()
    await sleep(pollMs)
  }
}

const tryLock = async (client: PoolClient, lock: string): Promise<boolean> => {
  // The snapshot must not be older than the lock, to include what its previous holder committed.
  await client.query(`set transaction isolation level read committed;
    set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`)
  return (await client.query(`select ${lock} as is_taken`)).rows[0]?.is_taken === true
}

async function applyEach(
  pool: Pool,
  migrations: readonly Migration[],
  settings: Settings,
): Promise<readonly string[]> {
  await retry('schema_migration', settings, () => inStep(pool, settings, prepare))
  const applied: string[] = []
  const isNew = (await readHistory(pool)).length === 0
  for (;;) {
    const history = await readHistory(pool)
    checkHistory(history, migrations)
    const next = migrations[history.length]
    if (next === undefined) return applied
    const needed = listBackfills(migrations).find(({ name }) => name === next.afterBackfill)
    if (needed !== undefined) await completeBackfill(pool, needed)
    await (next.index === null
      ? retry(next.name, settings, () => applyInStep(pool, { next, migrations, settings, isNew }))
      : applyIndex(pool, { next, index: next.index, settings }))
    applied.push(next.name)
  }
}

/** The files themselves do not create these: a version that has to decide whether it can start reads them first. */
async function prepare(client: PoolClient): Promise<void> {
  await client.query(`create table if not exists schema_migration (
    number integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`)
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'schema_migration'::regclass and attname = 'runs_beside'`,
  )
  // The oldest migration whose code can run on the database after this one; null: it does not say so.
  if (rowCount === 0) await client.query('alter table schema_migration add column runs_beside integer')
  await client.query(backfillTable)
}

/** Another version changes the schema. */
class StepTakenError extends Error {}

const inStep = (
  pool: Pool,
  { lockTimeoutMs }: Settings,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> =>
  inTransaction(
    pool,
    async (client) => {
      if (!(await tryLock(client, `pg_try_advisory_xact_lock(${locks.step})`))) {
        throw new StepTakenError('Another instance changes the schema, and does not end.')
      }
      await work(client)
    },
    { lockTimeoutMs },
  )

interface Application {
  readonly next: Migration
  readonly settings: Settings
}

const applyInStep = (
  pool: Pool,
  {
    next,
    migrations,
    settings,
    isNew,
  }: Application & { readonly migrations: readonly Migration[]; readonly isNew: boolean },
): Promise<void> =>
  inStep(pool, settings, async (client) => {
    const history = await readHistory(client)
    checkHistory(history, migrations)
    // A version that does not know the lock of the run applied it meanwhile.
    if (migrations[history.length] !== next) return
    if (settings.isAlone !== true) await refuseOlderInstances(client, next)
    try {
      await client.query(next.sql)
    } catch (cause) {
      if (isLockConflict(cause)) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`Migration ${next.name} failed and was rolled back: ${reason}`, { cause })
    }
    if (next.backfill !== null) await startBackfill(client, next.backfill, { isNew })
    await record(client, next)
  })

async function applyIndex(
  pool: Pool,
  { next, index, settings }: Application & { readonly index: IndexBuild },
): Promise<void> {
  const refuse = async (client: Pool | PoolClient): Promise<void> => {
    if (settings.isAlone !== true) await refuseOlderInstances(client, next)
  }
  await retry(next.name, settings, async () => {
    await refuse(pool)
    await buildIndex(pool, { migration: next.name, index, ...settings })
  })
  // Until the migration is recorded, older instances start: one may have done so during the build.
  await retry(next.name, settings, () =>
    inStep(pool, settings, async (client) => {
      await refuse(client)
      await record(client, next)
    }),
  )
}

async function record(client: PoolClient, { number, name, sha256, runsBeside }: Migration): Promise<void> {
  await client.query(
    'insert into schema_migration (number, name, sha256, runs_beside) values ($1, $2, $3, $4)',
    [number, name, sha256, runsBeside],
  )
}

// Longer than the heartbeat of an instance counts that was killed.
const maxInstanceWaitMs = 12_000

async function retry(name: string, settings: Settings, attempt: () => Promise<void>): Promise<void> {
  const { logger, retryPauseMs, giveUpAfterMs } = settings
  const startedAt = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    try {
      await attempt()
      return
    } catch (error) {
      const isLocked = isLockConflict(error) || error instanceof StepTakenError
      if (!isLocked && !(error instanceof OlderInstancesError)) throw error
      const limitMs = isLocked ? giveUpAfterMs : Math.min(giveUpAfterMs, maxInstanceWaitMs)
      if (performance.now() - startedAt >= limitMs)
        throw isLockConflict(error) ? nameHolders(name, error) : error
      const problem = error instanceof Error ? error.message : String(error)
      logger?.warn({ migration: name, attempts, problem }, 'database.migration_retried')
      await sleep(retryPauseMs * Math.min(2 ** (attempts - 1), 10))
    }
  }
}

const nameHolders = (name: string, cause: unknown): Error =>
  new Error(
    `Migration ${name} was rolled back: other transactions hold locks that it needs, and did not end. Look for the oldest xact_start in pg_stat_activity, end that transaction, and start again.`,
    { cause },
  )

/**
 * Checks again, after this instance announced itself, that it can run on the database: a later version that migrates either
 * sees its heartbeat, or has committed before.
 */
export async function confirmSchema(pool: Pool, folder: URL | string): Promise<void> {
  const migrations = await readMigrations(folder)
  await whenFree(pool, {
    lock: `pg_try_advisory_xact_lock_shared(${locks.step})`,
    work: async (client) => checkHistory(await readHistory(client), migrations),
  })
}
