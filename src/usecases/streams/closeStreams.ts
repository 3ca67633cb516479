import { createWorkerPool } from '../../concurrency/workerPool.js'
import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { StreamStore } from '../../ports/streamStore.js'
import { decideHere } from './control.js'
import type { ReleaseHold } from './releaseHold.js'
import type { SettleStream } from './settleStream.js'

export interface CloseStreamsDependencies {
  readonly store: Pick<StreamStore, 'change' | 'listDue' | 'listClosingNetworks' | 'leaseClosing'>
  readonly settleStream: SettleStream
  readonly releaseHold: ReleaseHold
  readonly clock: Clock
  readonly logger: Logger
}

export interface CloseStreams {
  /** Ends streams whose time passed, and continues closes that are not settled; one round. */
  run(stopped: AbortSignal): Promise<void>
  /** Waits for what a round left under way. */
  close(): Promise<void>
}

const endsPerRound = 1_000
/** Of one network; they become few transactions where payments are batched. */
const closesAtOnce = 200
// About as long as an attempt takes. Should it take longer, a second one joins it.
const leaseMs = 30_000
/** How long a round waits for slow networks, whose work goes on meanwhile. */
const roundMs = 1_000

/** Each network is worked on apart, so that one whose chain does not answer delays no other. */
export const createCloseStreams = ({
  store,
  settleStream,
  releaseHold,
  clock,
  logger,
}: CloseStreamsDependencies): CloseStreams => {
  const working = new Map<string, Promise<void>>()
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'stream.close_failed',
    recovered: 'stream.close_recovered',
    now: () => clock.now().getTime(),
  })

  const end = async (id: string, now: Date): Promise<void> => {
    const decision = await store.change(id, decideHere({ kind: 'end' }, now))
    if (decision.state === 'changed' && decision.stream.state === 'expired')
      await releaseHold(decision.stream)
  }

  const endDue = async (stopped: AbortSignal): Promise<void> => {
    for (;;) {
      const now = clock.now()
      const ids = await store.listDue(now, endsPerRound)
      await Promise.all(ids.map((id) => end(id, now)))
      if (ids.length < endsPerRound || stopped.aborted) return
    }
  }

  const workOn = async (network: string, stopped: AbortSignal): Promise<void> => {
    for (;;) {
      const now = clock.now()
      const leasedUntil = new Date(now.getTime() + leaseMs)
      const leased = await store.leaseClosing({ network, now, leasedUntil, limit: closesAtOnce })
      const pool = createWorkerPool<(typeof leased)[number]>({
        concurrency: closesAtOnce,
        keyOf: () => network,
        maxFailuresPerKey: closesAtOnce,
        stopped,
        onFailure: ({ stream }, error) => failures.failed(network, { streamId: stream.id, network, error }),
      })
      await pool.run(leased, async ({ stream, payment }) => {
        await settleStream(stream, payment)
        failures.succeeded(network)
      })
      if (leased.length < closesAtOnce || stopped.aborted) return
    }
  }

  const start = (network: string, stopped: AbortSignal): void => {
    if (working.has(network)) return
    const work = workOn(network, stopped)
      .catch((error: unknown) => failures.failed(network, { network, error }))
      .finally(() => working.delete(network))
    working.set(network, work)
  }

  return {
    run: async (stopped) => {
      await endDue(stopped)
      for (const network of await store.listClosingNetworks(clock.now())) start(network, stopped)
      const ended = new AbortController()
      const all = Promise.all(working.values()).finally(() => ended.abort())
      await Promise.race([all, clock.sleep(roundMs, ended.signal)])
    },
    close: async () => {
      await Promise.all(working.values())
    },
  }
}
