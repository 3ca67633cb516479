import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { ReconciliationStore } from '../../ports/reconciliation.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { NightlyRun } from '../../protocol/reconciliation.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { createCompareWithChain } from './compareWithChain.js'
import { createReconcileNightly } from './reconcileNightly.js'
import { createReconcilePage } from './reconcilePage.js'
import { createReconcilePeriod } from './reconcilePeriod.js'
import type { ReconciliationUseCases } from './useCases.js'

export interface ReconciliationDependencies {
  readonly store: ReconciliationStore
  readonly journal: Pick<SettlementJournal, 'find' | 'findOpen'>
  readonly registry: SchemeRegistry
  readonly gauges: { setLastReconciliation(run: NightlyRun): void }
  readonly clock: Clock
  readonly logger: Logger
}

export interface Reconciliation {
  readonly useCases: ReconciliationUseCases
  readonly jobs: Readonly<Record<'reconcileNightly' | 'measureReconciliation', Job>>
}

const chainDeadlineMs = 15_000

export const createReconciliation = (dependencies: ReconciliationDependencies): Reconciliation => {
  const { store, journal, registry, gauges, clock, logger } = dependencies
  const compareWithChain = createCompareWithChain({ registry, journal, deadlineMs: chainDeadlineMs })
  const reconcilePage = createReconcilePage({ store, compareWithChain, logger })
  return {
    useCases: { reconcilePeriod: createReconcilePeriod({ store, journal, reconcilePage }) },
    jobs: {
      reconcileNightly: {
        everyMs: 60_000,
        isShared: true,
        run: createReconcileNightly({ store, reconcilePage, clock, logger }),
      },
      // By every instance: whichever is scraped has the figures.
      measureReconciliation: {
        everyMs: 60_000,
        run: async () => {
          const run = await store.findLastNightly()
          if (run !== null) gauges.setLastReconciliation(run)
        },
      },
    },
  }
}
