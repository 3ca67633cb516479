import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { withTimeout } from '../../../concurrency/deadline.js'
import { createFailureLog } from '../../../failureLog.js'
import type { JobLeases } from '../../../ports/job.js'
import type { Logger } from '../../../ports/logger.js'
import { type Beat, findRestMs, heartbeatMs, heartbeatText, isTurn, readBeat } from './heartbeat.js'

/** A process that shares the database. Its claims hold while its heartbeat is recent. */
export interface Instance {
  readonly id: string
  /** Absent: it asks the database each time. */
  readonly heartbeat?: Heartbeat
  /** Withdraws the heartbeat, so that others take over at once. */
  close(): Promise<void>
}

/** What each heartbeat reads beside its own row, so that idle instances ask one question for all that they have to know. */
export interface Heartbeat {
  /** Null while none has succeeded for as long as two take, at the pace of this instance. */
  readLast(): Beat | null
  /** Whether it beats less often, because it holds nothing and has had no request for a minute. */
  isResting(): boolean
  /**
   * Before a request is served (by default), or a lease is taken: whatever the instance owns from then on is taken over ten
   * seconds after its last heartbeat. Null where it does not rest, or where the heartbeat that ends its rest failed: further
   * ones follow every two seconds, and nothing waits for them. Never rejects.
   */
  wake(forMs?: number): Promise<void> | null
  onBeat(listener: (beat: Beat) => void): void
  /** Heartbeats of the next ten seconds renew the lease of the job for `leaseMs`, if it is ours and about to expire. */
  keepLease(job: string, leaseMs: number): void
}

export interface AnnouncedInstance extends Instance {
  readonly heartbeat: Heartbeat
  /** Instances with a recent heartbeat at the time of our last one, including this one. */
  countAlive(): number
  /** Marks that it serves, which decides what the database is for. */
  admit(): Promise<void>
}

// Longer than a request takes that leaves no open settlement.
const restAfterMs = 60_000
// After it took a lease, the next heartbeats read what it holds.
export const leaseAwakeMs = 10_000
// A request waits no longer for the heartbeat that ends a rest.
const maxWakeMs = 1_000
// Longer than a job needs to ask again, in long rounds too: one that hangs does not, and loses its lease.
const keptMs = 10_000
// A heartbeat without a response must not delay the next ones.
const heartbeat = { text: heartbeatText, query_timeout: 3_000 }

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
  const kept = new Map<string, { readonly leaseMs: number; readonly until: number }>()
  const listeners: ((beat: Beat) => void)[] = []
  let last: Beat | null = null
  /** How far the last heartbeat was dated ahead; 0: the instance does not rest. */
  let aheadMs = 0
  /** Whether one that was sent may be the last one in the database. */
  let mayBeAhead = false
  let awakeUntil = performance.now() + restAfterMs
  let waking: Promise<void> | null = null
  let isAdmitted = false
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'instance.heartbeat_failed',
    recovered: 'instance.heartbeat_recovered',
  })
  /** Until the next heartbeat; null where the instance works. */
  const chooseRestMs = (): number | null =>
    last === null || performance.now() < awakeUntil ? null : findRestMs(last)
  const isDue = (): boolean => {
    const restMs = Math.min(chooseRestMs() ?? 0, heartbeatMs + aheadMs)
    const now = performance.now()
    return last === null || restMs <= heartbeatMs || now - last.sentAt >= restMs || isTurn(last, now)
  }
  // Not after a heartbeat that should have ended the rest: where it fails, what it reads is read without it.
  const isResting = (): boolean => aheadMs > 0 && performance.now() >= awakeUntil
  const beat = async () => {
    const sentAt = performance.now()
    const ahead = Math.max(0, (chooseRestMs() ?? 0) - heartbeatMs)
    for (const [job, { until }] of kept) if (until < sentAt) kept.delete(job)
    const leases = [[...kept.keys()], [...kept.values()].map(({ leaseMs }) => leaseMs)]
    const values = [id, isSandbox, isAdmitted, newestMigration, ...leases, ahead]
    mayBeAhead ||= ahead > 0
    const { rows } = await pulse.query(heartbeat, values)
    const read = readBeat(rows, sentAt)
    last = read
    aheadMs = ahead
    if (ahead === 0) mayBeAhead = false
    failures.succeeded('heartbeat')
    for (const listener of listeners) listener(read)
  }
  await pool.query("delete from instances where $1 or seen_at < now() - interval '1 day'", [isOnly])
  await beat()
  const onFailure = (error: unknown) => failures.failed('heartbeat', { error })
  const timer = setInterval(() => {
    if (isDue()) beat().catch(onFailure)
  }, heartbeatMs)
  timer.unref()
  return {
    id,
    heartbeat: {
      // A lease lasts longer, and so does the heartbeat of its holder.
      readLast: () =>
        last !== null && performance.now() - last.sentAt < (isResting() ? aheadMs : 0) + 2 * heartbeatMs
          ? last
          : null,
      isResting,
      wake: (forMs = restAfterMs) => {
        const isAsleep = performance.now() >= awakeUntil
        awakeUntil = Math.max(awakeUntil, performance.now() + forMs)
        if (!mayBeAhead || (waking === null && !isAsleep)) return null
        waking ??= withTimeout(beat(), maxWakeMs)
          .catch(onFailure)
          .finally(() => {
            waking = null
          })
        return waking
      },
      onBeat: (listener) => void listeners.push(listener),
      keepLease: (job, leaseMs) => kept.set(job, { leaseMs, until: performance.now() + keptMs }),
    },
    countAlive: () => (last?.others ?? 0) + 1,
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

/** For so long what was taken is not asked again, while no heartbeat has told yet. */
export const leaseMemoryMs = 3_000

// An instance that holds no lease leaves a free one for so long to those that hold some: all others can rest.
const leftFreeMs = 4_000

/**
 * The job of an instance without a heartbeat is free at once. What the last heartbeat read is not asked again, nor what was
 * taken less than `memoryMs` ago.
 */
export const createJobLeases = (pool: Pool, instance: Instance, memoryMs = 0): JobLeases => {
  const takenAt = new Map<string, number>()
  const freeSince = new Map<string, number>()
  const isLeft = (job: string): boolean => {
    const holders = [...(instance.heartbeat?.readLast()?.jobs.values() ?? [])]
    if (holders.includes('ours') || !holders.includes('theirs')) return false
    const since = freeSince.get(job) ?? performance.now()
    freeSince.set(job, since)
    return performance.now() - since < leftFreeMs
  }
  const isRemembered = (job: string): boolean => {
    const at = takenAt.get(job)
    return at !== undefined && performance.now() - at < memoryMs
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
      instance.heartbeat?.keepLease(job, leaseMs)
      if (isRemembered(job)) return true
      const findHolder = () => instance.heartbeat?.readLast()?.jobs.get(job)
      if (findHolder() === undefined) await instance.heartbeat?.wake(leaseAwakeMs)
      const holder = findHolder()
      if (holder === undefined) return isLeft(job) ? false : await take(job, leaseMs)
      freeSince.delete(job)
      return holder === 'ours'
    },
  }
}
