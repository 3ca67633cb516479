import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Instance } from '../../src/stores/postgres/database/instance.js'
import { pollUntil } from './pollUntil.js'
import { testApplication } from './postgres.js'

/** An instance row without a process that beats: it lives until it is killed, however slow the machine is. */
export const addInstance = async (pool: Pool): Promise<Instance> => {
  const id = randomUUID()
  await pool.query("insert into instances (id, seen_at) values ($1, now() + interval '1 hour')", [id])
  return { id, close: async () => undefined }
}

export const reviveInstance = async (pool: Pool, { id }: Instance): Promise<void> => {
  await pool.query("update instances set seen_at = now() + interval '1 hour' where id = $1", [id])
}

export const killInstance = async (pool: Pool, { id }: Instance): Promise<void> => {
  await pool.query("update instances set seen_at = now() - interval '11 seconds' where id = $1", [id])
}

/**
 * What a process had sent when it was killed is still executed: until its connections have ended, a heartbeat or a lease
 * of it can follow what a test writes. No other process may use the database.
 */
export const untilKilledHasEnded = async (pool: Pool): Promise<void> => {
  const connections = `select query from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name <> $1`
  await pollUntil(
    async () => (await pool.query(connections, [testApplication])).rows.length === 0,
    'the connections of the killed process to end',
    async () => (await pool.query(connections, [testApplication])).rows,
  )
}

/** Ends the ownership of every process that ran before, without waiting until its heartbeat is too old. */
export const killInstances = async (pool: Pool): Promise<void> => {
  await pool.query("update instances set seen_at = now() - interval '11 seconds'")
}
