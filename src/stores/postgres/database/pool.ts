import { Pool } from 'pg'

/** What the pool is made of. */
export interface PoolOptions {
  readonly url: string
  readonly maxConnections: number
  /** Receives the error of a connection that broke while nothing waited on it. The pool replaces it by itself. */
  readonly onError: (error: Error) => void
}

// Longer than a lane is held by a machine that vanished, so that who waits for it gets it.
const statementTimeoutMs = 10_000
const idleTransactionTimeoutMs = 30_000

/**
 * Opens a pool of connections on which nothing waits for ever: connecting, a statement, an idle
 * transaction, and a server that has fallen silent all have a deadline.
 *
 * 64-bit integers and `numeric` arrive as strings, which is pg's own choice and ours: amounts exceed a number.
 */
export function openPool({ url, maxConnections, onError }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: url,
    application_name: 'quittance',
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    // The server ends a slow statement; this one notices that the server itself is gone.
    query_timeout: statementTimeoutMs + 2_000,
    keepAlive: true,
  })
  pool.on('error', (error: Error & { client?: unknown }) => {
    // The pool attaches the whole client, which no log should print.
    delete error.client
    onError(error)
  })
  // The pool listens only while a connection is idle. One that breaks between two queries of a
  // transaction would end the process; its next query rejects anyway.
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}
