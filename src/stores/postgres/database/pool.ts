import { Pool } from 'pg'
import { type Measurement, measurePool } from './measuredPool.js'
import { tracePool } from './tracedPool.js'

export interface PoolOptions {
  readonly url: string
  readonly maxConnections: number
  /** Called for an idle connection that broke; the pool replaces it. */
  readonly onError: (error: Error) => void
  /** Also bounds the wait for a free connection. Default 10 s, and 5 s for the connection. */
  readonly statementTimeoutMs?: number
  /** How long callers queue for a free connection; default 5 s, and at most the statement timeout. */
  readonly connectionTimeoutMs?: number
  /** After how long without a statement the server ends a transaction; default 30 s. */
  readonly idleTransactionTimeoutMs?: number
  /** Whether statements of traced requests get spans; default: false. */
  readonly isTraced?: boolean
  /** Default: nothing is measured. */
  readonly measurement?: Measurement | undefined
}

// Longer than a vanished process can hold a lane's row lock, so that waiters acquire it.
const defaultStatementTimeoutMs = 10_000
const defaultConnectionTimeoutMs = 5_000
const defaultIdleTransactionTimeoutMs = 30_000
// `statement_timeout` acts in the server; after this long the client gives up a silent one.
const silenceMs = 2_000

/** The longest time that a caller waits for the database, in our queues and in the server. */
export const maxCallMs = defaultStatementTimeoutMs + silenceMs

/** Every wait has a deadline. int8 and numeric arrive as strings: amounts exceed a JavaScript number. */
export function openPool({
  url,
  maxConnections,
  onError,
  isTraced,
  measurement,
  ...timeouts
}: PoolOptions): Pool {
  const timeoutMs = timeouts.statementTimeoutMs ?? defaultStatementTimeoutMs
  const connectionTimeoutMs = timeouts.connectionTimeoutMs ?? defaultConnectionTimeoutMs
  const pool = new Pool({
    connectionString: url,
    application_name: 'quittance',
    max: maxConnections,
    connectionTimeoutMillis: Math.min(connectionTimeoutMs, timeoutMs),
    idleTimeoutMillis: 30_000,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeouts.idleTransactionTimeoutMs ?? defaultIdleTransactionTimeoutMs,
    query_timeout: timeoutMs + silenceMs,
    keepAlive: true,
  })
  pool.on('error', (error: Error & { client?: unknown }) => {
    // pg attaches the whole client, which must not be logged.
    delete error.client
    onError(error)
  })
  // The pool itself listens for errors only while a connection is idle; unhandled, they would crash the
  // process.
  pool.on('connect', (client) => void client.on('error', () => undefined))
  if (measurement !== undefined) measurePool(pool, measurement)
  return isTraced === true ? tracePool(pool) : pool
}
