import type { Backfills } from '../../ports/backfills.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'

interface UpgradeDependencies {
  readonly backfills: Backfills
  readonly clock: Clock
  readonly logger: Logger
}

interface Upgrade {
  readonly jobs: Readonly<Record<'runBackfills', Job>>
}

// Batches take a quarter of the time of one connection, however slow the database is.
const pausePerBatch = 3
const minPauseMs = 20
// Less than a shared job may take before another instance does it too.
const roundMs = 240_000

/** What a new version still writes into rows of older ones after its start, while it serves. */
export const createUpgrade = ({ backfills, clock, logger }: UpgradeDependencies): Upgrade => {
  const run = async (stopped: AbortSignal): Promise<void> => {
    const endsAt = clock.now().getTime() + roundMs
    while (!stopped.aborted) {
      const startedAt = clock.now().getTime()
      if (startedAt >= endsAt) return
      const batch = await backfills.runBatch()
      if (batch === null) return
      if (batch.isFinished) logger.info({ backfill: batch.name }, 'database.backfilled')
      const tookMs = clock.now().getTime() - startedAt
      await clock.sleep(Math.max(minPauseMs, pausePerBatch * tookMs), stopped)
    }
  }
  return { jobs: { runBackfills: { everyMs: 30_000, isShared: true, run } } }
}
