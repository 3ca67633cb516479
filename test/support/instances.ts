import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Instance } from '../../src/stores/postgres/database/instance.js'

/** An instance row without a heartbeat process. */
export const addInstance = async (pool: Pool): Promise<Instance> => {
  const id = randomUUID()
  await pool.query('insert into instances (id) values ($1)', [id])
  return { id, close: async () => undefined }
}

export const killInstance = async (pool: Pool, { id }: Instance): Promise<void> => {
  await pool.query("update instances set seen_at = now() - interval '11 seconds' where id = $1", [id])
}

/** Ends the ownership of every process that ran before, without waiting until its heartbeat is too old. */
export const killInstances = async (pool: Pool): Promise<void> => {
  await pool.query("update instances set seen_at = now() - interval '11 seconds'")
}
