import { sleep } from '../../deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { Endpoint } from './endpoint.js'
import {
  type ChainIdentity,
  createEndpointHealth,
  type EndpointHealth,
  type HealthTime,
} from './endpointHealth.js'

/** How an endpoint does, for operators. */
export interface EndpointReport {
  /** Host name, numbered where several endpoints share one; never the rest of the URL. */
  readonly host: string
  /** Whether it is read from, or would be if it were chosen. */
  readonly isUp: boolean
  /** The number of the newest block that it told. */
  readonly head: bigint | null
  readonly latencyMs: number | null
  /** The chain that it serves in place of the configured one. */
  readonly wrongChain: string | null
}

/** The endpoints of one network, and which of them to use for what. */
export interface EndpointPool {
  /** Whom to read from, best first; asks again who is there when nobody seems to be. */
  findReaders(): Promise<readonly EndpointHealth[]>
  /** Whom to hand transactions to: everybody who serves our chain and is not known to be away. */
  findReceivers(): Promise<readonly EndpointHealth[]>
  /** Who is fit to be read from at this moment, the one that is read from first. */
  listHealthy(): readonly EndpointHealth[]
  /** Reads from one from now on, because it answered while the one that was asked before was silent. */
  promote(silent: EndpointHealth, answering: EndpointHealth): void
  /** Asks everybody for chain and head; when all have answered, or soon after somebody has, whether anybody is there. */
  probe(): Promise<boolean>
  report(): readonly EndpointReport[]
}

// How much longer than the fastest an endpoint may take before it is given up for it.
const minSpeedup = 2
const minSpeedupMs = 20

// Blocks reach nodes at different moments: who is a block or a few seconds behind is not lagging.
const maxLagBlocks = 1n
const maxLagSeconds = 5
const maxLagBlockTimes = 2.5

const reviveWaitMs = 2_000
const stragglerWaitMs = 1_000

/** Opens the pool; nobody is asked until somebody wants to read, send or probe. */
export const createEndpointPool = (
  endpoints: readonly Endpoint[],
  {
    identity,
    logger,
    time,
  }: {
    readonly identity: ChainIdentity
    readonly logger: Logger
    readonly time: HealthTime
  },
): EndpointPool => {
  const all = endpoints.map((endpoint, index) =>
    createEndpointHealth({ endpoint, name: nameOf(endpoints, index), identity, logger, time }),
  )
  let pinned: EndpointHealth | null = null
  let lagging: ReadonlySet<EndpointHealth> = new Set()

  const isReady = (health: EndpointHealth) => health.isProven() && !health.isPaused()

  /** How many seconds behind the best head an endpoint is, as far as that is not explained by when it was asked. */
  const secondsBehind = (health: EndpointHealth, candidates: readonly EndpointHealth[]): number => {
    const own = health.findHead()
    if (own === null) return 0
    const heads = candidates.map((candidate) => candidate.findHead()).filter((head) => head !== null)
    const best = heads.reduce((left, right) => (right.number > left.number ? right : left), own)
    if (best.number - own.number <= maxLagBlocks) return 0
    // A head from the future makes nobody else late.
    const bestTimestamp = Math.min(best.timestamp, time.unixSeconds())
    return bestTimestamp - own.timestamp - Math.max(0, best.reportedAtMs - own.reportedAtMs) / 1_000
  }

  const isLagging = (health: EndpointHealth, candidates: readonly EndpointHealth[]): boolean =>
    secondsBehind(health, candidates) >
    Math.max(maxLagSeconds, (health.findBlockSeconds() ?? 0) * maxLagBlockTimes)

  const listHealthy = (): readonly EndpointHealth[] => {
    const ready = all.filter(isReady)
    const fit = ready.length < 2 ? ready : ready.filter((health) => !isLagging(health, ready))
    pinned = choose(fit, pinned)
    return pinned === null ? fit : [pinned, ...fit.filter((health) => health !== pinned)]
  }

  /** Asks those who have not proven themselves, and returns as soon as one has. */
  const revive = async () => {
    const absent = all.filter((health) => !health.isProven() && !health.isRateLimited())
    if (absent.length === 0) return
    const waiting = new AbortController()
    const anyProof = Promise.any(absent.map(prove)).catch(() => undefined)
    await Promise.race([anyProof, sleep(reviveWaitMs, waiting.signal)])
    waiting.abort()
  }

  /** Everybody who may be asked; those who rest because we let them come last. */
  const listAskable = (): readonly EndpointHealth[] => [
    ...listHealthy(),
    ...all.filter((health) => health.isProven() && health.isPaused() && !health.isRateLimited()),
  ]

  const findWith = async (list: () => readonly EndpointHealth[]): Promise<readonly EndpointHealth[]> => {
    if (list().length === 0) await revive()
    else for (const health of all) if (health.isDue()) void health.probe()
    return list()
  }

  const noteLagging = () => {
    const ready = all.filter(isReady)
    const now = new Set(ready.filter((health) => isLagging(health, ready)))
    for (const { name } of [...now].filter((health) => !lagging.has(health))) {
      logger.warn({ network: identity.network, host: name }, 'rpc.lagging: the endpoint is not read from')
    }
    lagging = now
  }

  return {
    findReaders: () => findWith(listAskable),
    findReceivers: async () => {
      const present = await findWith(() => all.filter((health) => health.isProven()))
      const willing = present.filter((health) => !health.isPaused())
      return willing.length > 0 ? willing : present
    },
    listHealthy,
    promote: (silent, answering) => {
      silent.onTimeout()
      pinned = answering
    },
    probe: async () => {
      const proofs = all.filter((health) => !health.isRateLimited()).map(prove)
      await Promise.any(proofs).catch(() => undefined)
      const waiting = new AbortController()
      await Promise.race([Promise.allSettled(proofs), sleep(stragglerWaitMs, waiting.signal)])
      waiting.abort()
      noteLagging()
      return all.some((health) => health.isProven() && !health.isRateLimited())
    },
    report: () => {
      const fit = new Set(listHealthy())
      return all.map((health) => ({
        host: health.name,
        isUp: fit.has(health),
        head: health.findHead()?.number ?? null,
        latencyMs: health.findLatencyMs(),
        wrongChain: health.findWrongChain(),
      }))
    },
  }
}

/**
 * Whom to read from. It stays the same while nothing speaks against it: two nodes are two views of the chain. One
 * that is clearly faster, or stands further up in the configuration, takes over once it has been well for a while.
 */
const choose = (fit: readonly EndpointHealth[], pinned: EndpointHealth | null): EndpointHealth | null => {
  const current = pinned !== null && fit.includes(pinned) ? pinned : null
  const eligible = current === null ? fit : fit.filter((health) => health === current || health.isStable())
  const fastestMs = Math.min(...eligible.map((health) => health.findLatencyMs() ?? Number.POSITIVE_INFINITY))
  const mostMs = fastestMs * minSpeedup + minSpeedupMs
  const adequate = eligible.filter((health) => (health.findLatencyMs() ?? 0) <= mostMs)
  return adequate[0] ?? current
}

/** Resolves when an endpoint proves its chain, rejects when it does not. */
const prove = async (health: EndpointHealth): Promise<void> => {
  await health.probe()
  if (!health.isProven()) throw new Error('It did not prove its chain')
}

const nameOf = (endpoints: readonly Endpoint[], index: number): string => {
  const host = endpoints[index]?.host ?? ''
  const count = endpoints.slice(0, index).filter((endpoint) => endpoint.host === host).length
  return count === 0 ? host : `${host}#${count + 1}`
}
