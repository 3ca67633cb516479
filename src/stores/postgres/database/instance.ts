import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'

/** This process among those that share the database: what it claims is its own while it is seen alive. */
export interface Instance {
  readonly id: string
  /** Goes at once, so that others need not wait to take over. */
  close(): Promise<void>
}

/** This process, and how many there are. */
export interface AnnouncedInstance extends Instance {
  /** Instances that were alive at our last heartbeat, this one included. */
  countAlive(): number
}

// How long a process may be silent before what it claimed is anyone's. Three missed heartbeats.
const heartbeatMs = 3_000

// One that gets no answer gives way to the next.
const heartbeat = {
  text: `
    insert into instances (id) values ($1) on conflict (id) do update set seen_at = now()
    returning (
      select count(*)::int from instances others
      where others.id <> $1 and others.seen_at > now() - interval '10 seconds'
    ) as others`,
  query_timeout: heartbeatMs,
}
const heartbeatRows = z.tuple([z.object({ others: z.number() })])

// Longer than any request works on a row: what is older was left behind, even by a process that lives.
const maxOwnership = "interval '3 minutes'"

/** SQL that is true when the instance in a column is alive. */
export const isAlive = (owner: string): string =>
  `exists (select 1 from instances i where i.id = ${owner} and i.seen_at > now() - interval '10 seconds')`

/** SQL that is true when the instance in one column is alive and can still be at work on what began at another. */
export const isOwned = (owner: string, since: string): string =>
  `(${since} > now() - ${maxOwnership} and ${isAlive(owner)})`

/**
 * Announces this process and keeps saying that it lives. Where it is the only one that can use the database,
 * whatever an earlier one left behind is free at once.
 */
export const announceInstance = async (
  pool: Pool,
  logger: Logger,
  { isOnly }: { readonly isOnly: boolean },
): Promise<AnnouncedInstance> => {
  const id = randomUUID()
  // A connection of its own: while all of the pool's wait for something, this process must not seem dead.
  const pulse = new Pool({ ...pool.options, max: 1 })
  pulse.on('error', (error) => logger.warn({ error }, 'instance.connection_lost'))
  pulse.on('connect', (client) => void client.on('error', () => undefined))
  let others = 0
  const beat = async () => {
    others = heartbeatRows.parse((await pulse.query(heartbeat, [id])).rows)[0].others
  }
  await pool.query("delete from instances where $1 or seen_at < now() - interval '1 day'", [isOnly])
  await beat()
  const timer = setInterval(() => {
    beat().catch((error: unknown) => logger.error({ error }, 'instance.heartbeat_failed'))
  }, heartbeatMs)
  timer.unref()
  return {
    id,
    countAlive: () => others + 1,
    close: async () => {
      clearInterval(timer)
      // Waits for a heartbeat that is under way: it would bring the row back.
      await pulse.end()
      await pool.query('update signer_lanes set holder = null, lease_expires_at = null where holder = $1', [
        id,
      ])
      await pool.query('delete from instances where id = $1', [id])
    },
  }
}
