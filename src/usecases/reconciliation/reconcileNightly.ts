import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { NightlyProgress, ReconciliationStore } from '../../ports/reconciliation.js'
import type { ReconcilePage } from './reconcilePage.js'

export interface ReconcileNightlyDependencies {
  readonly store: ReconciliationStore
  readonly reconcilePage: ReconcilePage
  readonly clock: Clock
  readonly logger: Logger
}

const dayMs = 86_400_000
// The last settlements of the day are closed by then, and their events delivered or retried.
const startsAfterMidnightMs = 3_600_000
const pageSize = 200
const maxListed = 50
// Less than a shared job may take before another instance does it too.
const roundMs = 240_000

/** Compares the previous day, UTC; one round. A round that ends early is continued by the next one. */
export const createReconcileNightly =
  ({ store, reconcilePage, clock, logger }: ReconcileNightlyDependencies) =>
  async (stopped: AbortSignal): Promise<void> => {
    const startedAt = clock.now().getTime()
    const from = new Date(Math.floor((startedAt - startsAfterMidnightMs) / dayMs) * dayMs - dayMs)
    const period = { from, to: new Date(from.getTime() + dayMs) }
    const day = from.toISOString().slice(0, 10)
    let progress = (await store.findNightly(day)) ?? (await start(day, period))
    while (!progress.isFinished && !stopped.aborted && clock.now().getTime() < startedAt + roundMs) {
      const page = await reconcilePage(
        { ...period, after: progress.cursor ?? undefined, limit: pageSize },
        stopped,
      )
      // A page that was cut off is compared again.
      if (stopped.aborted) return
      progress = {
        day,
        cursor: page.nextCursor ?? progress.cursor,
        settlements: progress.settlements + page.settlements.length,
        unchecked: progress.unchecked + page.counts.unproven + page.counts.unavailable,
        differences: progress.differences + page.differences.length,
        listed: [...progress.listed, ...page.differences].slice(0, maxListed),
        isFinished: page.nextCursor === null,
      }
      await store.saveNightly(progress)
      if (progress.isFinished) report(progress)
    }

    async function start(named: string, of: typeof period): Promise<NightlyProgress> {
      const differences = await store.findCountDifferences(of)
      return {
        day: named,
        cursor: null,
        settlements: 0,
        unchecked: 0,
        differences: differences.length,
        listed: differences.slice(0, maxListed),
        isFinished: false,
      }
    }

    function report({ cursor: _, isFinished: __, listed, ...figures }: NightlyProgress): void {
      if (figures.differences === 0) logger.info(figures, 'reconciliation.finished')
      else logger.error({ ...figures, listed: listed.slice(0, 5) }, 'reconciliation.differences')
    }
  }
