import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { z } from 'zod'
import { createFailureLog } from '../../../failureLog.js'
import type { JobLeases } from '../../../ports/job.js'
import type { Logger } from '../../../ports/logger.js'

/** A process that shares the database. Its claims hold while its heartbeat is recent. */
export interface Instance {
  readonly id: string
  /** Withdraws the heartbeat, so that others take over at once. */
  close(): Promise<void>
}

export interface AnnouncedInstance extends Instance {
  /** Instances with a recent heartbeat at the time of our last one, including this one. */
  countAlive(): number
  /** Marks that it serves, which decides what the database is for. */
  admit(): Promise<void>
}

// Three missed heartbeats, as in `isAlive`: after that others may take over.
const heartbeatMs = 3_000

// A heartbeat without a response must not delay the next one.
const heartbeat = {
  text: `
    insert into instances (id, is_sandbox, is_admitted, newest_migration) values ($1, $2, $3, $4)
    on conflict (id) do update set seen_at = now(), is_admitted = excluded.is_admitted
    returning (
      select count(*)::int from instances others
      where others.id <> $1 and others.seen_at > now() - interval '10 seconds'
    ) as others`,
  query_timeout: heartbeatMs,
}
const heartbeatRows = z.tuple([z.object({ others: z.number() })])

// Longer than any request works on a row: an older claim was abandoned, even if its process is alive.
const maxOwnership = "interval '3 minutes'"

/** SQL condition: the instance in column `owner` has a recent heartbeat. */
export const isAlive = (owner: string): string =>
  `exists (select 1 from instances i where i.id = ${owner} and i.seen_at > now() - interval '10 seconds')`

/** SQL condition: the instance in `owner` is alive, and its claim from `since` has not expired. */
export const isOwned = (owner: string, since: string): string =>
  `(${since} > now() - ${maxOwnership} and ${isAlive(owner)})`

interface Announcement {
  /** Deletes all earlier instances, which releases what they own. */
  readonly isOnly: boolean
  /** Default: its payments are real. */
  readonly isSandbox?: boolean
  /** Number of the newest migration that its version has; null: as a version that does not say so. */
  readonly newestMigration?: number | null
}

/** Starts the heartbeat. */
export const announceInstance = async (
  pool: Pool,
  logger: Logger,
  { isOnly, isSandbox = false, newestMigration = null }: Announcement,
): Promise<AnnouncedInstance> => {
  const id = randomUUID()
  // A dedicated connection: an exhausted pool must not stop the heartbeat.
  const pulse = new Pool({ ...pool.options, max: 1 })
  pulse.on('error', (error) => logger.debug({ error }, 'instance.connection_lost'))
  pulse.on('connect', (client) => void client.on('error', () => undefined))
  let others = 0
  let isAdmitted = false
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'instance.heartbeat_failed',
    recovered: 'instance.heartbeat_recovered',
  })
  const beat = async () => {
    const values = [id, isSandbox, isAdmitted, newestMigration]
    others = heartbeatRows.parse((await pulse.query(heartbeat, values)).rows)[0].others
    failures.succeeded('heartbeat')
  }
  await pool.query("delete from instances where $1 or seen_at < now() - interval '1 day'", [isOnly])
  await beat()
  const timer = setInterval(() => {
    beat().catch((error: unknown) => failures.failed('heartbeat', { error }))
  }, heartbeatMs)
  timer.unref()
  return {
    id,
    countAlive: () => others + 1,
    admit: async () => {
      isAdmitted = true
      await beat()
    },
    close: async () => {
      clearInterval(timer)
      // Waits for a heartbeat in flight, which would insert the row again.
      await pulse.end()
      await pool.query('update signer_lanes set holder = null, lease_expires_at = null where holder = $1', [
        id,
      ])
      await pool.query('delete from instances where id = $1', [id])
    },
  }
}

const isHeld = `l.expires_at > now() and ${isAlive('l.holder')}`
const isHeldByOther = `exists (select 1 from job_leases l where l.job = $1 and l.holder <> $2 and ${isHeld})`

const jobRow = z.object({ job: z.string() })

/** A lease lasts longer than this: until then what was read or taken is not asked again. */
export const leaseMemoryMs = 3_000

/**
 * The job of an instance without a heartbeat is free at once, or `memoryMs` later. Idle instances read what others do, all
 * jobs together, once in that time.
 */
export const createJobLeases = (pool: Pool, instance: Instance, memoryMs = 0): JobLeases => {
  const isRecent = (at: number | undefined): boolean => at !== undefined && performance.now() - at < memoryMs
  const takenAt = new Map<string, number>()
  let ofOthers: { readonly at: number; readonly jobs: Promise<ReadonlySet<string>> } | undefined

  const readOthers = async (): Promise<ReadonlySet<string>> => {
    const { rows } = await pool.query(`select l.job from job_leases l where l.holder <> $1 and ${isHeld}`, [
      instance.id,
    ])
    return new Set(rows.map((row) => jobRow.parse(row).job))
  }
  const isDoneByOther = async (job: string): Promise<boolean> => {
    if (memoryMs === 0) return false
    if (ofOthers === undefined || !isRecent(ofOthers.at))
      ofOthers = { at: performance.now(), jobs: readOthers() }
    const asked = ofOthers
    try {
      return (await asked.jobs).has(job)
    } catch (error) {
      if (ofOthers === asked) ofOthers = undefined
      throw error
    }
  }

  const take = async (job: string, leaseMs: number): Promise<boolean> => {
    const askedAt = performance.now()
    const { rowCount } = await pool.query(
      `insert into job_leases as l (job, holder, expires_at)
       select $1, $2, now() + $3 * interval '1 millisecond' where not ${isHeldByOther}
       on conflict (job) do update set holder = excluded.holder, expires_at = excluded.expires_at
         where l.holder = excluded.holder or l.expires_at <= now() or not ${isAlive('l.holder')}`,
      [job, instance.id, leaseMs],
    )
    if (rowCount === 1) takenAt.set(job, askedAt)
    else takenAt.delete(job)
    return rowCount === 1
  }
  return {
    take: async (job, leaseMs) => {
      if (isRecent(takenAt.get(job))) return true
      return !(await isDoneByOther(job)) && (await take(job, leaseMs))
    },
  }
}
