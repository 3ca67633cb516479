import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { isFields } from '../../../protocol/fields.js'
import { startOfMonth } from '../../../protocol/tiers.js'
import { databaseUnavailable } from './databaseErrors.js'
import {
  createPreparedStatements,
  isUnplanned,
  type PlannedStatement,
  plannedSettings,
  toLiteral,
} from './plannedStatement.js'

// Short: until then a connection to a silent server occupies the pool.
const rollback = { text: 'rollback', query_timeout: 2_000 }

export const unlimitedMs = 2 ** 31 - 1

// What reads or writes whole tables has no time limit.
export const withoutTimeout = (text: string, values: readonly string[] = []) => ({
  text,
  values: [...values],
  query_timeout: unlimitedMs,
})

export interface TransactionOptions {
  /** How long a statement waits for a row that another transaction has locked. Default: the statement timeout. */
  readonly lockTimeoutMs?: number
  /**
   * Statements without parameters that are sent together with `begin`, which saves a round trip; `work` gets the rows of the
   * last one. Each of them sees what was committed before it began. Default: none.
   */
  readonly opening?: string
  /**
   * A commit is not awaited on disk. For what a later transaction of the same work makes durable together with itself, and
   * what means nothing without that one.
   */
  readonly isDurableLater?: boolean
  /** When its caller stops waiting, in terms of `performance.now()`: nothing is begun or committed afterwards. Default: never. */
  readonly endsAt?: number
}

/** A connection that cannot roll back is closed. Throws when `work` ignored a failed statement. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient, opened: readonly unknown[]) => Promise<T>,
  { opening, ...options }: TransactionOptions = {},
): Promise<T> {
  return await onConnection(pool, options, async (client, settings) => {
    const first = opening === undefined ? settings : [...settings, opening]
    const begun: unknown = await client.query(['begin', ...first].join('; '))
    const result = await work(client, readRows(listResults(begun).at(-1)))
    if (performance.now() > (options.endsAt ?? Number.POSITIVE_INFINITY)) throw databaseUnavailable()
    const { command } = await client.query('commit')
    // After a failed statement, COMMIT succeeds with the command tag ROLLBACK.
    if (command !== 'COMMIT') {
      throw new Error(
        'The transaction was rolled back: one of its statements had failed, and the failure was ignored.',
      )
    }
    return result
  })
}

/**
 * A transaction in one round trip: statements without parameters, which are given the SQL condition that the caller still
 * waits, and for how many milliseconds. Returns the rows of the last one. What is `planned` must be runnable: it is prepared on
 * connections that do not have it.
 */
export async function inOneMessage(
  pool: Pool,
  list: (isAwaited: string, leftMs: number) => readonly string[],
  {
    planned = [],
    ...options
  }: Omit<TransactionOptions, 'opening'> & {
    readonly planned?: readonly PlannedStatement[]
  } = {},
): Promise<readonly unknown[]> {
  const send = async (mayBePrepared: boolean): Promise<readonly unknown[]> =>
    await onConnection(pool, options, async (client, settings, leftMs) => {
      // `now()` is when the server received the message.
      const isAwaited = Number.isFinite(leftMs)
        ? `(clock_timestamp() < now() + interval '${leftMs} milliseconds')`
        : 'true'
      const planning = planned.length === 0 ? [] : listPlanning(client, planned, mayBePrepared)
      // The server runs nothing of a message after a statement that fails: what is committed here has succeeded.
      const statements = ['begin', ...settings, ...planning, ...list(isAwaited, leftMs), 'commit']
      const answer: unknown = await client.query(statements.join('; '))
      preparedOn.onRun(client, planned)
      return readRows(listResults(answer).at(-2))
    })
  return await (planned.length === 0 ? send(true) : sendPlanned(send))
}

/**
 * One statement, as `pool.query` runs it, but planned once on each connection. A value that no message can carry is sent as a
 * parameter, which fails alone.
 */
export async function queryPlanned(
  pool: Pool,
  planned: PlannedStatement,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  const literals = values.map(toLiteral)
  if (literals.some(hasNul)) return (await pool.query(planned.text, [...values])).rows
  const send = async (mayBePrepared: boolean): Promise<readonly unknown[]> => {
    const client = await pool.connect()
    let failure: unknown
    try {
      // The statements of a message without `begin` are a transaction as well, which needs no rollback.
      const message = [...listPlanning(client, [planned], mayBePrepared), planned.run(literals)].join('; ')
      const answer: unknown = await client.query(message)
      preparedOn.onRun(client, [planned])
      return readRows(listResults(answer).at(-1))
    } catch (error) {
      failure = error
      throw error
    } finally {
      // As the driver does it: what failed may have lost its connection.
      client.release(failure !== undefined && !isUnplanned(failure))
    }
  }
  return await sendPlanned(send)
}

const preparedOn = createPreparedStatements<PoolClient>()

/** What comes before planned statements in a message. */
const listPlanning = (
  client: PoolClient,
  planned: readonly PlannedStatement[],
  mayBePrepared: boolean,
): readonly string[] => {
  const isPrepared = mayBePrepared && preparedOn.has(client, planned)
  return [...plannedSettings, ...(isPrepared ? [] : planned.map(({ prepare }) => prepare))]
}

/** Sends once more what found its statements not prepared. */
const sendPlanned = async <T>(send: (mayBePrepared: boolean) => Promise<T>): Promise<T> => {
  try {
    return await send(true)
  } catch (error) {
    if (!isUnplanned(error)) throw error
    return await send(false)
  }
}

/** `settings` are statements for the begin of a transaction; `leftMs` is how long the caller still waits. */
const onConnection = async <T>(
  pool: Pool,
  {
    lockTimeoutMs,
    isDurableLater = false,
    endsAt = Number.POSITIVE_INFINITY,
  }: Omit<TransactionOptions, 'opening'>,
  work: (client: PoolClient, settings: readonly string[], leftMs: number) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    const leftMs = Math.floor(endsAt - performance.now())
    if (leftMs <= 0) throw databaseUnavailable()
    const settings = [
      ...(lockTimeoutMs === undefined ? [] : [`set local lock_timeout = ${lockTimeoutMs}`]),
      ...(leftMs < (pool.options.statement_timeout || 0) ? [`set local statement_timeout = ${leftMs}`] : []),
      ...(isDurableLater ? ['set local synchronous_commit = off'] : []),
    ]
    return await work(client, settings, leftMs)
  } catch (error) {
    broken = await rollBack(client)
    throw error
  } finally {
    client.release(broken)
  }
}

/** Of several statements the driver returns a result each. */
const listResults = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : [])

const readRows = (result: unknown): readonly unknown[] =>
  isFields(result) && Array.isArray(result.rows) ? result.rows : []

async function rollBack(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query(rollback)
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

const pauseMs = 1_000

// Shorter than `maxOwnership`: after that another request may own the row.
const maxRetryMs = 120_000

// What more writes would release is released when its ownership expires.
const maxRetried = 10_000
const maxRetriedAtOnce = 4

interface Retry {
  readonly write: () => Promise<unknown>
  readonly givesUpAt: number
}

/**
 * Retries writes that failed, for two minutes; otherwise a live process would own their rows until ownership expires. All
 * writes of one store take turns on a few connections: an outage leaves thousands of them, whose retries would keep a
 * database that is slow from recovering.
 */
export const createBackgroundRetries = (): ((write: () => Promise<unknown>) => void) => {
  const retries = new Set<Retry>()
  let isDue = false

  /** Returns whether it succeeded, or is too late. Those that fail are tried again after all others. */
  const attempt = async (retry: Retry): Promise<boolean> => {
    retries.delete(retry)
    if (performance.now() > retry.givesUpAt) return true
    try {
      await retry.write()
      return true
    } catch {
      retries.add(retry)
      return false
    }
  }
  const attemptAll = async (): Promise<void> => {
    while (retries.size > 0) {
      const attempts = await Promise.all([...retries].slice(0, maxRetriedAtOnce).map(attempt))
      if (attempts.includes(false)) break
    }
    isDue = false
    schedule()
  }
  const schedule = (): void => {
    if (isDue || retries.size === 0) return
    isDue = true
    setTimeout(() => void attemptAll(), pauseMs).unref()
  }

  return (write) => {
    if (retries.size >= maxRetried) return
    retries.add({ write, givesUpAt: performance.now() + maxRetryMs })
    schedule()
  }
}

interface Batches {
  /**
   * Takes the size of a batch as its last value, as the limit of an array: `in (select … limit …)` may be joined by a nested
   * loop, which reads what is selected for each row of the table, or selects it anew and so exceeds the limit.
   */
  readonly text: string
  readonly values?: readonly unknown[]
  /** Rows of one batch. Default 1,000. */
  readonly size?: number
  readonly stopped?: AbortSignal | undefined
}

/**
 * Repeats a statement while a batch was full. Short statements: a long one would keep vacuum from removing what has ended
 * since it began, and exceed the statement timeout.
 */
export const runInBatches = async (
  pool: Pool,
  { text, values = [], size = 1_000, stopped }: Batches,
): Promise<void> => {
  while (stopped?.aborted !== true) {
    const { rowCount } = await pool.query(text, [...values, size])
    if (rowCount !== size) return
  }
}

interface PurgeOptions {
  readonly stopped?: AbortSignal | undefined
  /** SQL condition of rows that stay. */
  readonly unless?: string
}

/** Deletes rows whose `expires_at` has passed. Skips rows that another statement is deleting: neither waits for the other. */
export const purgeExpired = (
  pool: Pool,
  table:
    | 'reservations'
    | 'siwx_nonces'
    | 'sandbox_scenarios'
    | 'sandbox_inboxes'
    | 'sandbox_channels'
    | 'sandbox_receivers'
    | 'sandbox_executions'
    | 'unique_amounts',
  { stopped, unless = 'false' }: PurgeOptions = {},
): Promise<void> =>
  runInBatches(pool, {
    text: `delete from ${table} where ctid = any(array(
      select ctid from ${table} where expires_at <= now() and not ${unless} order by expires_at limit $1 for update skip locked))`,
    stopped,
  })

// Postgres text cannot contain NUL; it rejects the statement.
const nul = '\0'

export const hasNul = (text: string): boolean => text.includes(nul)

export const withoutNul = (text: string): string => text.replaceAll(nul, '')

/** `YYYY-MM-DD`, UTC. */
export const toDay = (at: Date): string => at.toISOString().slice(0, 10)

/** `YYYY-MM-01`, UTC. */
export const toMonth = (at: Date): string => toDay(startOfMonth(at))

/**
 * UUID version 7: what is inserted together shares a page of the index. 74 bits are random, which cannot be guessed either;
 * the time shows in every view of a settlement.
 */
export const timeOrderedUuid = (): string => {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Canonical form; Postgres rejects a comparison of a uuid with other text. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Selects the columns of a row's shape under their names in camel case, so that what is read needs no mapping. `given`: SQL
 * of those that are not read as they are.
 */
export const selectColumns = (
  table: string,
  shape: object,
  given: Readonly<Record<string, string>> = {},
): string =>
  Object.keys(shape)
    .map((name) => `${given[name] ?? `${table}.${toSnakeCase(name)}`} as "${name}"`)
    .join(', ')

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
