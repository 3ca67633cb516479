import { nameLines } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { ReconciliationStore } from '../../ports/reconciliation.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { ReconciliationUseCases } from '../useCases.js'
import { createCompareWithChain } from './compareWithChain.js'
import {
  createMeasureReconciliation,
  createReconcileNightly,
  type ReconciliationGauges,
} from './reconcileNightly.js'
import { createReconcilePage } from './reconcilePage.js'
import { createCompareCounters, createReconcilePeriod } from './reconcilePeriod.js'

interface ReconciliationDependencies {
  readonly store: ReconciliationStore
  /** The nightly job uses it: it must not make operators wait, and has time for a large journal. */
  readonly nightlyStore: ReconciliationStore
  readonly journal: Pick<SettlementJournal, 'find' | 'findOpen'>
  readonly registry: SchemeRegistry
  readonly gauges: ReconciliationGauges
  readonly clock: Clock
  readonly logger: Logger
  /** What a request may take for all counters together; default 120 s. */
  readonly countersTimeoutMs?: number
}

interface Reconciliation {
  readonly useCases: ReconciliationUseCases
  readonly jobs: Readonly<Record<'reconcileNightly' | 'measureReconciliation', Job>>
}

const chainDeadlineMs = 15_000
const defaultCountersTimeoutMs = 120_000

export const createReconciliation = (dependencies: ReconciliationDependencies): Reconciliation => {
  const { store, nightlyStore, journal, registry, gauges, clock, logger } = dependencies
  const { countersTimeoutMs: timeoutMs = defaultCountersTimeoutMs } = dependencies
  const compareWithChain = createCompareWithChain({ registry, journal, deadlineMs: chainDeadlineMs })
  const reconcilePageOf = (of: ReconciliationStore) =>
    createReconcilePage({ store: of, compareWithChain, logger })
  return {
    useCases: {
      reconcilePeriod: createReconcilePeriod({
        store,
        journal,
        registry,
        compareCounters: createCompareCounters({ store, clock, timeoutMs }),
        reconcilePage: reconcilePageOf(store),
      }),
    },
    jobs: {
      reconcileNightly: {
        everyMs: 60_000,
        isShared: true,
        run: createReconcileNightly({
          store: nightlyStore,
          reconcilePage: reconcilePageOf(nightlyStore),
          clock,
          logger: nameLines(logger, { job: 'reconcileNightly' }),
        }),
      },
      // By every instance: whichever is scraped has the figures, which change once a day.
      measureReconciliation: { everyMs: 300_000, run: createMeasureReconciliation({ store, gauges }) },
    },
  }
}
