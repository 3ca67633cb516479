import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import type { ReadLimit } from '../../../ports/reconciliation.js'
import { inTransaction } from '../database/transaction.js'

// By the timeout or a request; and by a replica that must apply what the statement still reads.
const canceledStates = ['57014', '40001']

const backend = z.tuple([z.object({ pid: z.number() })])

/**
 * Bounds each statement of `work`; null if one was cancelled. A statement that is only abandoned would run on in the
 * server: when stopped, it is cancelled by another connection of the pool.
 */
export const readWithin = async <T>(
  pool: Pool,
  { timeoutMs, stopped }: ReadLimit,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | null> => {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${Math.max(1, Math.floor(timeoutMs))}`)
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const [{ pid }] = backend.parse(rows)
      const cancel = () => {
        pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined)
      }
      if (stopped.aborted) return null
      stopped.addEventListener('abort', cancel, { once: true })
      try {
        return await work(client)
      } finally {
        stopped.removeEventListener('abort', cancel)
      }
    })
  } catch (error) {
    if (error instanceof DatabaseError && canceledStates.includes(error.code ?? '')) return null
    throw error
  }
}
