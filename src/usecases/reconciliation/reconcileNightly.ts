import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { FoundDifferences, NightlyProgress, ReconciliationStore } from '../../ports/reconciliation.js'
import { counterNames, type Difference, type KindCount } from '../../protocol/reconciliation.js'
import type { ReconcilePage } from './reconcilePage.js'
import { countKinds, mergeCounts, notCompared } from './reconcilePeriod.js'

interface ReconcileNightlyDependencies {
  readonly store: ReconciliationStore
  readonly reconcilePage: ReconcilePage
  readonly clock: Clock
  readonly logger: Logger
}

const dayMs = 86_400_000
// The last settlements of the day are closed by then.
const startsAfterMidnightMs = 3_600_000
// The day before is compared again: what was open, unchecked or waiting has ended by then.
const daysAtOnce = 2
const maxMissedDays = 7
const pageSize = 200
const maxListedPerKind = 10
// Less than a shared job may take before another instance does it too.
const roundMs = 240_000
const counterTimeoutMs = 1_800_000
// A counter may take longer than a round: meanwhile, other instances must not start it as well.
const counterClaimMs = counterTimeoutMs + 60_000

/**
 * Compares the last two days, UTC; one round. A round that ends early is continued by the next one, and days that were
 * missed are compared first.
 */
export const createReconcileNightly =
  ({ store, reconcilePage, clock, logger }: ReconcileNightlyDependencies) =>
  async (stopped: AbortSignal): Promise<void> => {
    const startedAt = clock.now().getTime()
    const day = await findDay(startedAt)
    if (day === null) return
    const to = new Date(Date.parse(day) + dayMs)
    const period = { from: new Date(to.getTime() - daysAtOnce * dayMs), to }
    let progress = await store.findNightly(day)
    if (progress === null) {
      // Before anything that can fail: the metrics show when a first run started that never ends.
      progress = { day, ...nothingYet }
      await store.saveNightly(progress)
    }
    while (!progress.isFinished && !stopped.aborted && clock.now().getTime() < startedAt + roundMs) {
      const next: NightlyProgress | null = progress.arePagesCompared
        ? await compareCounter(progress)
        : await comparePage(progress)
      if (next === null) return
      progress = next
      if (progress.isFinished) report(progress)
    }

    /** The oldest day that was missed; null if the last one is finished. */
    async function findDay(now: number): Promise<string | null> {
      const yesterday = Math.floor((now - startsAfterMidnightMs) / dayMs) * dayMs - dayMs
      const last = await store.findLastNightly()
      const [unfinished] = await store.listUnfinishedNightlies()
      const started = unfinished === undefined ? yesterday : Date.parse(unfinished.day)
      const due = last === null ? started : Date.parse(last.day) + dayMs
      if (due > yesterday) return null
      return toDay(Math.max(due, yesterday - (maxMissedDays - 1) * dayMs))
    }

    async function comparePage(done: NightlyProgress): Promise<NightlyProgress | null> {
      const after = done.cursor ?? undefined
      const page = await reconcilePage({ ...period, after, limit: pageSize }, stopped)
      // A page that was cut off is compared again.
      if (stopped.aborted) return null
      const { counts, settlements, differences, waiting, nextCursor } = page
      const next = {
        ...add(done, { differences, counts: countKinds(differences) }),
        cursor: nextCursor ?? done.cursor,
        arePagesCompared: nextCursor === null,
        settlements: done.settlements + settlements.length,
        open: done.open + counts.open,
        unchecked: done.unchecked + counts.unproven + counts.unavailable,
        waiting: done.waiting + waiting,
      }
      await store.saveNightly(next)
      return next
    }

    async function compareCounter(done: NightlyProgress): Promise<NightlyProgress | null> {
      const counter = counterNames.find((name) => !done.counted.includes(name))
      if (counter === undefined) {
        const next = { ...done, isFinished: true }
        await store.saveNightly(next)
        return next
      }
      if (!(await store.claimCounting(done.day, counterClaimMs))) return null
      let next = done
      try {
        const limit = { timeoutMs: counterTimeoutMs, stopped }
        const found = await store.findCountDifferences(counter, period, limit)
        if (stopped.aborted) return null
        next = {
          ...add(done, found ?? notCompared(counter, counterTimeoutMs)),
          counted: [...done.counted, counter],
        }
        return next
      } finally {
        // Also ends the claim.
        await store.saveNightly(next)
      }
    }

    function report(run: NightlyProgress): void {
      const { settlements, open, unchecked, waiting, counts, listed } = run
      const figures = { day: run.day, settlements, open, unchecked, waiting }
      if (counts.length === 0) logger.info(figures, 'reconciliation.finished')
      else logger.error({ ...figures, counts, listed: listed.slice(0, 5) }, 'reconciliation.differences')
    }
  }

const toDay = (time: number): string => new Date(time).toISOString().slice(0, 10)

const nothingYet = {
  cursor: null,
  arePagesCompared: false,
  counted: [],
  settlements: 0,
  open: 0,
  unchecked: 0,
  waiting: 0,
  counts: [],
  listed: [],
  isFinished: false,
} as const

const add = (done: NightlyProgress, found: FoundDifferences): NightlyProgress => ({
  ...done,
  counts: mergeCounts([...done.counts, ...found.counts]),
  listed: found.differences.reduce(list, done.listed),
})

/** The first of each kind: many of one must not hide another. */
const list = (listed: readonly Difference[], each: Difference): readonly Difference[] =>
  listed.filter(({ kind }) => kind === each.kind).length < maxListedPerKind ? [...listed, each] : listed

export interface ReconciliationGauges {
  setLastReconciliation(run: {
    readonly counts: readonly KindCount[]
    readonly unchecked: number
    /** ISO 8601: when the last run ended; before the first one ended, when it was started. */
    readonly finishedAt: string
  }): void
}

interface MeasureReconciliationDependencies {
  readonly store: Pick<ReconciliationStore, 'findLastNightly' | 'listUnfinishedNightlies'>
  readonly gauges: ReconciliationGauges
}

/** The last run; while another one goes on, what it has found already raises the figures. */
export const createMeasureReconciliation =
  ({ store, gauges }: MeasureReconciliationDependencies) =>
  async (): Promise<void> => {
    const unfinished = await store.listUnfinishedNightlies()
    const last = await store.findLastNightly()
    const finishedAt = last?.finishedAt ?? unfinished[0]?.startedAt.toISOString()
    if (finishedAt === undefined) return
    const runs = [...(last === null ? [] : [last]), ...unfinished]
    gauges.setLastReconciliation({
      counts: mergeCounts(
        runs.flatMap(({ counts }) => counts),
        Math.max,
      ),
      unchecked: Math.max(...runs.map(({ unchecked }) => unchecked)),
      finishedAt,
    })
  }
