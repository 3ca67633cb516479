import type { Pool } from 'pg'
import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { isCanceled, isLockConflict } from './databaseErrors.js'
import type { IndexBuild } from './migrationFiles.js'
import { inTransaction } from './statements.js'

interface BuildOptions {
  /** Name of its file. */
  readonly migration: string
  readonly index: IndexBuild
  readonly logger?: Pick<Logger, 'info'>
  readonly reportWaitsAfterMs: number
}

// The name of the schema is left out: the copy of the table is in another one.
const readIndex = `
  select i.indisvalid as is_valid,
    replace(replace(pg_get_indexdef(c.oid), ' ON pg_temp.', ' ON '), ' ON ' || quote_ident(n.nspname) || '.', ' ON ')
      as definition
  from pg_class c join pg_index i on i.indexrelid = c.oid join pg_namespace n on n.oid = c.relnamespace
  where c.relname = $1 and n.oid = `
const indexRows = z.array(z.object({ is_valid: z.boolean(), definition: z.string() })).max(1)

/**
 * Payments do not wait for it. What an interrupted build left is invalid, and dropped first. A valid index of that name is
 * the one that a build left before it was recorded; an index of another definition was made by hand.
 */
export const buildIndex = async (pool: Pool, options: BuildOptions): Promise<void> => {
  const { migration, index } = options
  const { rows } = await pool.query(`${readIndex} current_schema()::regnamespace`, [index.name])
  const [present] = indexRows.parse(rows)
  if (present?.is_valid === true) {
    const wanted = await defineIndex(pool, index)
    if (present.definition === wanted) return
    throw new Error(
      `Migration ${migration} needs the index "${wanted}", and the database has "${present.definition}". Rename or drop that one (drop index concurrently ${index.name}), and start again.`,
    )
  }
  if (present !== undefined) await pool.query(`drop index concurrently "${index.name}"`)
  const stopReports = reportWaits(pool, options)
  try {
    await pool.query(index.sql)
  } catch (cause) {
    if (isLockConflict(cause)) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    const hint = isCanceled(cause) ? `. ${canceledHint}` : ''
    throw new Error(
      `Migration ${migration} failed; the next start builds its index again: ${reason}${hint}`,
      { cause },
    )
  } finally {
    stopReports()
  }
}

const canceledHint =
  'A build waits for transactions that began before it: look for the oldest xact_start in pg_stat_activity, end that transaction, set statement_timeout of the role to 0, and start again.'

/** As Postgres writes it, of the same statement on an empty copy of the table. */
const defineIndex = (pool: Pool, { name, table, sql }: IndexBuild): Promise<string | undefined> =>
  inTransaction(pool, async (client) => {
    // Temporary tables come before others of their name.
    await client.query(`create temporary table "${table}" (like "${table}") on commit drop`)
    await client.query(sql.replace('index concurrently', 'index'))
    const { rows } = await client.query(`${readIndex} pg_my_temp_schema()`, [name])
    return indexRows.parse(rows)[0]?.definition
  })

// No text of statements: they can have values of payments.
const listBlockers = `
  select p.phase, b.pid, extract(epoch from now() - a.xact_start)::int as seconds, a.application_name as application
  from pg_stat_progress_create_index p, unnest(pg_blocking_pids(p.pid)) b (pid)
    left join pg_stat_activity a on a.pid = b.pid
  where p.datname = current_database() and p.relid = to_regclass($1)
  order by a.xact_start`
const blockerRows = z.array(
  z.object({
    phase: z.string(),
    /** 0: a prepared transaction. */
    pid: z.number(),
    /** Null: this user may not see it. */
    seconds: z.number().nullable(),
    application: z.string().nullable(),
  }),
)

const longestPauseMs = 60_000

/** Logs now and then which transactions the build waits for; returns what ends that. */
const reportWaits = (
  pool: Pool,
  { migration, index, logger, reportWaitsAfterMs }: BuildOptions,
): (() => void) => {
  let isOver = false
  let timer: NodeJS.Timeout
  const report = async (): Promise<void> => {
    const blockers = blockerRows.parse((await pool.query(listBlockers, [`"${index.table}"`])).rows)
    const [first] = blockers
    if (isOver || first === undefined) return
    const waitsFor = blockers.map(({ phase: _, ...blocker }) => blocker)
    logger?.info({ migration, phase: first.phase, waitsFor }, 'database.migration_waits')
  }
  const schedule = (pauseMs: number): void => {
    timer = setTimeout(() => {
      report()
        // The build itself says what is wrong with the database.
        .catch(() => undefined)
        .finally(() => {
          if (!isOver) schedule(Math.min(2 * pauseMs, longestPauseMs))
        })
    }, pauseMs)
  }
  schedule(reportWaitsAfterMs)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
