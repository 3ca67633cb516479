import type { Pool, PoolClient } from 'pg'

// Short, because a connection that fell silent in `work` would keep its place in the pool meanwhile.
const rollback = { text: 'rollback', query_timeout: 2_000 }

/**
 * Runs `work` in a transaction on one connection: commits when it resolves, rolls back when it rejects.
 *
 * A connection that cannot roll back is closed rather than reused, so no later caller inherits its state.
 *
 * @throws what `work` throws; or that the transaction did not commit, when `work` hid a failed statement
 */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    const { command } = await client.query('commit')
    // After a failed statement Postgres answers COMMIT with ROLLBACK, and calls that a success.
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

/** Answers the error that makes the connection unfit for reuse, if there is one. */
async function rollBack(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query(rollback)
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
