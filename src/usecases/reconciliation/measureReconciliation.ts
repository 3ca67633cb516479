import type { ReconciliationStore } from '../../ports/reconciliation.js'
import type { KindCount } from '../../protocol/reconciliation.js'
import { mergeCounts } from './mergeCounts.js'

export interface ReconciliationGauges {
  setLastReconciliation(run: {
    readonly counts: readonly KindCount[]
    readonly unchecked: number
    /** ISO 8601: when the last run ended; before the first one ended, when it was started. */
    readonly finishedAt: string
  }): void
}

export interface MeasureReconciliationDependencies {
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
