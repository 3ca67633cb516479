import { nameLines } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Holds } from '../../ports/holds.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { OpenStreamCount, StreamStore } from '../../ports/streamStore.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Core } from '../core/index.js'
import { readPage } from '../readPage.js'
import { createCheckFunds } from './checkFunds.js'
import { createCloseStream, createCloseStreams } from './closeStreams.js'
import { getOwnStream } from './control.js'
import { createReleaseHold } from './hold.js'
import { viewClaim } from './means.js'
import { createOpenStream } from './openStream.js'
import { createSettleStream } from './settleStream.js'
import { createPauseAndResume, createUpdateStream } from './updateStream.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream, viewUpdate } from './viewStream.js'

interface StreamsDependencies {
  readonly streams: StreamStore
  readonly journal: Pick<SettlementJournal, 'find' | 'findOpen'>
  readonly holds: Pick<Holds, 'release'>
  readonly core: Pick<Core, 'settleAuthorization' | 'holdAuthorization' | 'quotaGate' | 'spendingLimits'>
  readonly registry: SchemeRegistry
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly gauges: { setOpenStreams(counts: readonly OpenStreamCount[]): void }
  readonly verifyDeadlineMs: number
  /** How long after its close a stream over a channel waits for the receiver's signature. */
  readonly unsignedForMs: number
  readonly clock: Clock
  /** Without the corrections of `clock`. */
  readonly processClock: Pick<Clock, 'now'>
  readonly logger: Logger
}

interface Streams {
  readonly useCases: StreamUseCases
  readonly jobs: Readonly<Record<'closeStreams' | 'checkStreamFunds' | 'measureOpenStreams', Job>>
  /** Waits for closes that a job left under way. */
  close(): Promise<void>
}

export const createStreams = (dependencies: StreamsDependencies): Streams => {
  const { streams: store, core, gauges, clock } = dependencies
  const releaseHold = createReleaseHold(dependencies.holds, dependencies.logger)
  const shared = { ...dependencies, ...core, store, releaseHold }
  const settleStream = createSettleStream(shared)
  const ofJob = (job: string) => ({ ...shared, logger: nameLines(shared.logger, { job }) })
  const closing = ofJob('closeStreams')
  const closeStreams = createCloseStreams({ ...closing, settleStream: createSettleStream(closing) })
  return {
    useCases: {
      openStream: createOpenStream({ ...shared, deadlineMs: dependencies.verifyDeadlineMs }),
      updateStream: createUpdateStream(shared),
      closeStream: createCloseStream({ ...shared, settleStream }),
      ...createPauseAndResume(store, clock),
      ...createReadStreams({ store, registry: dependencies.registry, clock }),
    },
    jobs: {
      closeStreams: { everyMs: 2_000, isShared: true, needs: 'streams', run: closeStreams.run },
      checkStreamFunds: {
        everyMs: 5_000,
        isShared: true,
        needs: 'streams',
        run: createCheckFunds(ofJob('checkStreamFunds')),
      },
      measureOpenStreams: {
        everyMs: 15_000,
        needs: 'streams',
        run: async () => gauges.setOpenStreams(await store.countOpen()),
      },
    },
    close: closeStreams.close,
  }
}

const createReadStreams = ({
  store,
  registry,
  clock,
}: {
  readonly store: Pick<StreamStore, 'find' | 'list'>
  readonly registry: SchemeRegistry
  readonly clock: Clock
}): Pick<StreamUseCases, 'getStream' | 'listStreams'> => ({
  getStream: async (actor, id) => {
    const stream = await getOwnStream(store, actor, id)
    return { ...viewUpdate(stream, clock.now()), ...viewClaim(registry, stream) }
  },

  listStreams: async (caller, { status = null, limit, cursor = null }) => {
    const query = { caller, state: status, after: cursor }
    const { items, next } = await readPage(
      limit,
      (count) => store.list({ ...query, limit: count }),
      ({ id }) => id,
    )
    return { streams: items.map(viewStream), ...next }
  },
})
