import type { AccountStore } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { LaneState, OverviewStore, WaitingWebhooks } from '../../ports/operatorOverview.js'
import type { OperatorRecords } from '../../ports/operatorRecords.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { WebhookUseCases } from '../useCases.js'
import { createAccountUseCases } from './accounts.js'
import { createCallerCounts } from './callers.js'
import { createReadOverview, type InstanceReport } from './overview.js'
import type { createPauses } from './pauses.js'
import type { createRecentReorgs } from './recentReorgs.js'
import type { OperatorUseCases } from './useCases.js'

interface OperatorDependencies {
  /** Other nouns ask it before this one is made. */
  readonly pauses: ReturnType<typeof createPauses>
  readonly reorgs: Pick<ReturnType<typeof createRecentReorgs>, 'read'>
  readonly accounts: AccountStore
  readonly records: OperatorRecords
  readonly overview: OverviewStore
  readonly pingDatabase: () => Promise<'ok' | 'read_only'>
  readonly report: InstanceReport
  readonly gauges: {
    setLanes(lanes: readonly LaneState[]): void
    setWaitingWebhooks(waiting: WaitingWebhooks): void
  }
  readonly redeliver: WebhookUseCases['redeliver']
  readonly tiers: Tiers
  readonly clock: Clock
}

interface Operator {
  readonly useCases: OperatorUseCases
  readonly jobs: Readonly<Record<'refreshPauses' | 'purgeOperatorActions' | 'measureQueues', Job>>
}

export const createOperator = (dependencies: OperatorDependencies): Operator => {
  const { pauses, reorgs, records, overview, gauges, clock } = dependencies
  return {
    useCases: {
      ...createCallerCounts(clock),
      ...createAccountUseCases(dependencies),
      listPauses: pauses.listPauses,
      setPause: pauses.setPause,
      clearPause: pauses.clearPause,
      readOverview: createReadOverview({
        ...dependencies,
        store: overview,
        listPauses: pauses.listKnown,
        readReorgs: reorgs.read,
      }),
    },
    jobs: {
      // Not notified: behind a pooler in transaction mode no notification arrives, and a pause must reach every instance.
      refreshPauses: { everyMs: 500, run: pauses.refreshStale },
      purgeOperatorActions: { everyMs: 3_600_000, isShared: true, run: records.purgeActions },
      measureQueues: {
        everyMs: 15_000,
        needs: 'queues',
        run: async () => {
          gauges.setLanes(await overview.listLanes())
          gauges.setWaitingWebhooks(await overview.measureWaitingWebhooks())
        },
      },
    },
  }
}
