import { withinDeadline, withSignal } from '../../concurrency/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { JobState, NetworkState, OverviewStore, PoolState } from '../../ports/operatorOverview.js'
import type { Pause } from '../../ports/operatorPauses.js'
import type { OperatorOverview } from '../../protocol/operatorOverview.js'
import { cacheFor } from '../cacheFor.js'
import type { OperatorUseCases } from './useCases.js'

/** What this process knows without asking a store. */
export interface InstanceReport {
  readonly version: string
  readonly limiter: { readonly store: 'redis' | 'memory'; isDegraded(): boolean }
  listNetworks(): readonly NetworkState[]
  listPools(): readonly PoolState[]
  listJobs(): readonly JobState[]
}

interface OverviewDependencies {
  readonly report: InstanceReport
  readonly store: OverviewStore
  readonly pingDatabase: () => Promise<'ok' | 'read_only'>
  readonly listPauses: () => readonly Pause[]
  readonly readReorgs: (network: string) => { readonly reorged: number; readonly lost: number }
  readonly clock: Clock
  /** For all that is read of stores; default 1.5 s. */
  readonly deadlineMs?: number
}

type Shared = OperatorOverview['shared']
type Part = keyof Shared

const maxAgeMs = 1_000
const dayMaxAgeMs = 60_000
const defaultDeadlineMs = 1_500
/** Of the connections for reads; the rest is for everyone else. */
const readsAtOnce = 2

const nothing: Shared = {
  database: null,
  openSettlements: null,
  openStreams: null,
  lanes: null,
  lastDay: null,
  webhooks: null,
  reconciliation: null,
  jobs: null,
  instances: null,
}

/** One overview a second for all who ask, whatever the stores do. */
export const createReadOverview = (dependencies: OverviewDependencies): OperatorUseCases['readOverview'] => {
  const { report, store, clock, deadlineMs = defaultDeadlineMs } = dependencies
  const startedAt = clock.now()
  // Failures are cached too: a journal that is too large to be counted in time is tried once a minute.
  const countDay = cacheFor(clock, dayMaxAgeMs, () =>
    Promise.allSettled([store.countDay(report.listNetworks().map(({ network }) => network))]),
  )
  const parts: { readonly [Name in Part]: () => Promise<Shared[Name]> } = {
    database: dependencies.pingDatabase,
    openSettlements: async () => [...(await store.countOpenSettlements())],
    openStreams: async () => [...(await store.countOpenStreams())],
    lanes: async () => [...(await store.listLanes())],
    webhooks: store.measureWebhooks,
    reconciliation: async () => ({ last: await store.findLastNightly() }),
    jobs: async () => [...(await store.listJobs())],
    instances: async () => [...(await store.listInstances())],
    lastDay: async () => {
      const [counted] = await countDay()
      if (counted.status === 'rejected') throw counted.reason
      return [...counted.value]
    },
  }
  const readings = Object.entries<() => Promise<unknown>>(parts).map(([part, read]) => ({
    part,
    read: shareRuns(read),
  }))

  const readShared = async () => {
    const shared: Record<string, unknown> = {}
    const unread: { part: string; reason: string }[] = []
    await withinDeadline({ milliseconds: deadlineMs }, async (signal) => {
      const left = [...readings]
      const work = async (): Promise<void> => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const { part, read } = next
          try {
            signal.throwIfAborted()
            shared[part] = await withSignal(read(), signal)
          } catch {
            unread.push({
              part,
              reason: signal.aborted ? `not read within ${deadlineMs} ms` : 'the database does not answer',
            })
          }
        }
      }
      await Promise.all(Array.from({ length: readsAtOnce }, work))
    })
    return { shared: { ...nothing, ...shared }, unread }
  }

  return cacheFor(clock, maxAgeMs, async (): Promise<OperatorOverview> => {
    const { shared, unread } = await readShared()
    const pauses = dependencies.listPauses()
    return {
      at: clock.now().toISOString(),
      instance: {
        startedAt: startedAt.toISOString(),
        version: report.version,
        networks: report.listNetworks().map((network) => ({
          ...viewNetwork(network, shared.lastDay),
          paused: pauses.flatMap((pause) => viewPauseOf(pause, network)),
          reorgs: dependencies.readReorgs(network.network),
        })),
        limiter: { store: report.limiter.store, isDegraded: report.limiter.isDegraded() },
        pools: [...report.listPools()],
        jobs: report.listJobs().map(viewJob),
        pauses: pauses.length,
      },
      shared,
      unread,
    }
  })
}

/** A read that has not ended yet is not begun again, so that a store that stalls is asked once. */
const shareRuns = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | null = null
  return () => {
    running ??= read().finally(() => {
      running = null
    })
    return running
  }
}

const viewPauseOf = ({ target, reason }: Pause, { network }: NetworkState) => {
  if (target.kind !== 'network' && target.kind !== 'scheme') return []
  if (target.network !== network) return []
  return [{ scheme: target.kind === 'scheme' ? target.scheme : null, reason }]
}

const viewNetwork = (
  { network, isServing, isRpcReachable, problem, balanceLevel, ...rest }: NetworkState,
  lastDay: Shared['lastDay'],
) => {
  const { signers, endpoints, clockLagMs = null, stuckLanes = [], limitations = [] } = rest
  const day = lastDay?.find((count) => count.network === network)
  const perSigner = day === undefined ? 0 : (day.confirmed + day.failed) / Math.max(1, signers.length)
  const [newest = 0n] = endpoints.flatMap(({ head }) => (head === null ? [] : [head])).toSorted(byHeight)
  return {
    network,
    isServing,
    problem,
    isRpcReachable,
    balanceLevel,
    clockLagMs,
    stuckLanes: [...stuckLanes],
    limitations: [...limitations],
    endpoints: endpoints.map(({ host, isUp, head, latencyMs, wrongChain = null, lastFailure = null }) => ({
      host,
      isUp,
      head: head?.toString() ?? null,
      lagBlocks: head === null ? null : (newest - head).toString(),
      latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
      wrongChain,
      lastFailure:
        lastFailure === null ? null : { message: lastFailure.message, at: lastFailure.at.toISOString() },
    })),
    signers: signers.map(({ signer, balance, settlementsLeft, laneRepairs = null }) => ({
      address: signer,
      balance: balance.toString(),
      settlementsLeft,
      daysLeft: perSigner === 0 ? null : Math.round((settlementsLeft / perSigner) * 10) / 10,
      laneRepairs,
    })),
  }
}

const byHeight = (left: bigint, right: bigint): number => (left < right ? 1 : -1)

const viewJob = ({ name, everyMs, isShared, failures, succeededAt, failedAt, runningSince }: JobState) => ({
  name,
  everyMs,
  isShared,
  failures,
  succeededAt: succeededAt?.toISOString() ?? null,
  failedAt: failedAt?.toISOString() ?? null,
  runningSince: runningSince?.toISOString() ?? null,
})
