import { setMaxListeners } from 'node:events'
import type { Clock } from './ports/clock.js'
import type { Logger } from './ports/logger.js'

export interface Job {
  readonly name: string
  readonly everyMs: number
  /** The signal aborts when the service closes; work that can wait is left for the next start. */
  run(stopped: AbortSignal): Promise<void>
}

export interface ScheduledUseCases {
  reconcileSettlements(stopped: AbortSignal): Promise<void>
  detectReorgs(stopped: AbortSignal): Promise<void>
  deliverWebhooks(stopped: AbortSignal): Promise<void>
  measureOpenSettlements(): Promise<void>
  purgeIdempotencyKeys(): Promise<void>
  flushRequestStatistics(): Promise<void>
  purgeWebhookDeliveries(): Promise<void>
}

export const listJobs = (verbs: ScheduledUseCases): readonly Job[] => [
  { name: 'reconcileSettlements', everyMs: 2_000, run: verbs.reconcileSettlements },
  { name: 'detectReorgs', everyMs: 4_000, run: verbs.detectReorgs },
  // Polling instead of NOTIFY, which takes a database-wide lock at commit of every payment.
  { name: 'deliverWebhooks', everyMs: 500, run: verbs.deliverWebhooks },
  { name: 'measureOpenSettlements', everyMs: 5_000, run: verbs.measureOpenSettlements },
  { name: 'flushRequestStatistics', everyMs: 1_000, run: verbs.flushRequestStatistics },
  { name: 'purgeIdempotencyKeys', everyMs: 3_600_000, run: verbs.purgeIdempotencyKeys },
  { name: 'purgeWebhookDeliveries', everyMs: 3_600_000, run: verbs.purgeWebhookDeliveries },
]

/** Returns a function that stops all jobs. A job never overlaps itself; its errors are logged. */
export const startJobs = (jobs: readonly Job[], clock: Clock, logger: Logger): (() => Promise<void>) => {
  const stopped = new AbortController()
  // All jobs and their concurrent work listen to this signal; Node would warn about a leak.
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
