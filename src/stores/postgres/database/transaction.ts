import type { Pool, PoolClient } from 'pg'

// Short: until then a connection to a silent server occupies the pool.
const rollback = { text: 'rollback', query_timeout: 2_000 }

interface TransactionOptions {
  /** How long a statement waits for a row that another transaction has locked. Default: the statement timeout. */
  readonly lockTimeoutMs?: number
}

/** A connection that cannot roll back is closed. Throws when `work` ignored a failed statement. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  { lockTimeoutMs }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(
      lockTimeoutMs === undefined ? 'begin' : `begin; set local lock_timeout = ${lockTimeoutMs}`,
    )
    const result = await work(client)
    const { command } = await client.query('commit')
    // After a failed statement, COMMIT succeeds with the command tag ROLLBACK.
    if (command !== 'COMMIT') {
      throw new Error(
        'The transaction was rolled back: one of its statements had failed, and the failure was ignored.',
      )
    }
    return result
  } catch (error) {
    broken = await rollBack(client)
    throw error
  } finally {
    client.release(broken)
  }
}

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

/** Retries for two minutes; otherwise a live process would own the row until ownership expires. */
export const retryInBackground = (write: () => Promise<unknown>): void => {
  const givesUpAt = performance.now() + maxRetryMs
  const wait = () => {
    setTimeout(attempt, pauseMs).unref()
  }
  const attempt = () => {
    write().catch(() => {
      if (performance.now() < givesUpAt) wait()
    })
  }
  wait()
}
