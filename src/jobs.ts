import { setMaxListeners } from 'node:events'
import type { Clock } from './ports/clock.js'
import type { Logger } from './ports/logger.js'

/** Work that comes back by itself. */
export interface Job {
  readonly name: string
  readonly everyMs: number
  /** The signal says that the service is closing: what can wait, waits for the next start. */
  run(stopped: AbortSignal): Promise<void>
}

/** The timed work of the service. */
export interface JobVerbs {
  reconcileSettlements(stopped: AbortSignal): Promise<void>
  recheckBlocks(stopped: AbortSignal): Promise<void>
  deliverWebhooks(stopped: AbortSignal): Promise<void>
  measureOpenSettlements(): Promise<void>
  purgeIdempotencyKeys(): Promise<void>
  flushRequestStatistics(): Promise<void>
  purgeWebhookDeliveries(): Promise<void>
}

/** The list of timed work. */
export const listJobs = (verbs: JobVerbs): readonly Job[] => [
  { name: 'reconcileSettlements', everyMs: 2_000, run: verbs.reconcileSettlements },
  { name: 'recheckBlocks', everyMs: 4_000, run: verbs.recheckBlocks },
  // A poll, not NOTIFY: that takes a lock of the whole database when payments commit.
  { name: 'deliverWebhooks', everyMs: 500, run: verbs.deliverWebhooks },
  { name: 'measureOpenSettlements', everyMs: 5_000, run: verbs.measureOpenSettlements },
  { name: 'flushRequestStatistics', everyMs: 1_000, run: verbs.flushRequestStatistics },
  { name: 'purgeIdempotencyKeys', everyMs: 3_600_000, run: verbs.purgeIdempotencyKeys },
  { name: 'purgeWebhookDeliveries', everyMs: 3_600_000, run: verbs.purgeWebhookDeliveries },
]

/** Starts jobs at once and answers how to stop them; a job never overlaps itself and never ends the process. */
export const startJobs = (jobs: readonly Job[], clock: Clock, logger: Logger): (() => Promise<void>) => {
  const stopped = new AbortController()
  // Every job and all that it does at once listen to it; Node would take so many for a leak.
  setMaxListeners(0, stopped.signal)
  const repeat = async ({ name, everyMs, run }: Job): Promise<void> => {
    do {
      try {
        await run(stopped.signal)
      } catch (error) {
        logger.error({ job: name, error }, 'job.failed')
      }
    } while (await clock.sleep(everyMs, stopped.signal))
  }
  const running = Promise.all(jobs.map(repeat))
  return async () => {
    stopped.abort()
    await running
  }
}
