import { sleep } from '../../concurrency/deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { Endpoint } from './endpoint.js'
import {
  type ChainIdentity,
  createEndpointHealth,
  type EndpointFailure,
  type EndpointHealth,
  type HealthTime,
} from './endpointHealth.js'

export interface EndpointReport {
  readonly host: string
  readonly isUp: boolean
  readonly head: bigint | null
  /** It is the time of that block, in Unix seconds. */
  readonly headTimestamp: number | null
  readonly latencyMs: number | null
  readonly wrongChain: string | null
  readonly lastFailure: EndpointFailure | null
}

export interface EndpointPool {
  /** Endpoints to read from, best first. Probes again when none is available. */
  findReaders(): Promise<readonly EndpointHealth[]>
  /** Endpoints to broadcast to: proven and not backing off, or all proven ones. */
  findReceivers(): Promise<readonly EndpointHealth[]>
  /** Proven, not backing off, not lagging; the pinned one first. */
  listHealthy(): readonly EndpointHealth[]
  promote(silent: EndpointHealth, answering: EndpointHealth): void
  /**
   * Probes all. Resolves when all have responded, or 1 s after the first, but 5 s after it the first time: the start is
   * stopped by an endpoint of another chain, which is looked for once. Says whether any is available.
   */
  probe(): Promise<boolean>
  report(): readonly EndpointReport[]
}

// Acceptable latency: the fastest one's times this factor, plus this many milliseconds.
const minSpeedup = 2
const minSpeedupMs = 20

// Blocks propagate at different times: one block, or a few seconds, is not lagging.
const maxLagBlocks = 1n
const maxLagSeconds = 5
const maxLagBlockTimes = 2.5

const reviveWaitMs = 2_000
const stragglerWaitMs = 1_000
const firstStragglerWaitMs = 5_000

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
    createEndpointHealth({ endpoint, name: labelEndpoint(endpoints, index), identity, logger, time }),
  )
  let pinned: EndpointHealth | null = null
  let lagging: ReadonlySet<EndpointHealth> = new Set()
  let waitMs = firstStragglerWaitMs

  const isReady = (health: EndpointHealth) => health.isProven() && !health.isPaused()

  /** Seconds behind the best head, corrected for when each head was reported. */
  const secondsBehind = (health: EndpointHealth, candidates: readonly EndpointHealth[]): number => {
    const own = health.findHead()
    if (own === null) return 0
    const heads = candidates.map((candidate) => candidate.findHead()).filter((head) => head !== null)
    const best = heads.reduce((left, right) => (right.number > left.number ? right : left), own)
    if (best.number - own.number <= maxLagBlocks) return 0
    // A head with a future timestamp must not make the others count as lagging.
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

  /** Probes unproven endpoints; returns when one has proven its chain, or after 2 s. */
  const probeUnproven = async () => {
    const unproven = all.filter((health) => !health.isProven() && !health.isRateLimited())
    if (unproven.length === 0) return
    const waiting = new AbortController()
    const anyProof = Promise.any(unproven.map(prove)).catch(() => undefined)
    await Promise.race([anyProof, sleep(reviveWaitMs, waiting.signal)])
    waiting.abort()
  }

  /** Endpoints that back off without Retry-After come last. */
  const listUsable = (): readonly EndpointHealth[] => [
    ...listHealthy(),
    ...all.filter((health) => health.isProven() && health.isPaused() && !health.isRateLimited()),
  ]

  const findOrProbe = async (list: () => readonly EndpointHealth[]): Promise<readonly EndpointHealth[]> => {
    if (list().length === 0) await probeUnproven()
    else for (const health of all) if (health.isDue()) void health.probe()
    return list()
  }

  const reportLagging = () => {
    const ready = all.filter(isReady)
    const laggingNow = new Set(ready.filter((health) => isLagging(health, ready)))
    for (const { name } of [...laggingNow].filter((health) => !lagging.has(health))) {
      logger.warn({ network: identity.network, host: name }, 'rpc.lagging')
    }
    lagging = laggingNow
  }

  return {
    findReaders: () => findOrProbe(listUsable),
    findReceivers: async () => {
      const proven = await findOrProbe(() => all.filter((health) => health.isProven()))
      const available = proven.filter((health) => !health.isPaused())
      return available.length > 0 ? available : proven
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
      await Promise.race([Promise.allSettled(proofs), sleep(waitMs, waiting.signal)])
      waitMs = stragglerWaitMs
      waiting.abort()
      reportLagging()
      return all.some((health) => health.isProven() && !health.isRateLimited())
    },
    report: () => {
      const fit = new Set(listHealthy())
      return all.map((health) => ({
        host: health.name,
        isUp: fit.has(health),
        head: health.findHead()?.number ?? null,
        headTimestamp: health.findHead()?.timestamp ?? null,
        latencyMs: health.findLatencyMs(),
        wrongChain: health.findWrongChain(),
        lastFailure: health.findLastFailure(),
      }))
    },
  }
}

/**
 * Stays with the pinned endpoint, because two endpoints are two views of the chain. An endpoint that is
 * clearly faster, or listed earlier in the configuration, replaces it once it is stable.
 */
const choose = (fit: readonly EndpointHealth[], pinned: EndpointHealth | null): EndpointHealth | null => {
  const current = pinned !== null && fit.includes(pinned) ? pinned : null
  const eligible = current === null ? fit : fit.filter((health) => health === current || health.isStable())
  const fastestMs = Math.min(...eligible.map((health) => health.findLatencyMs() ?? Number.POSITIVE_INFINITY))
  const maxMs = fastestMs * minSpeedup + minSpeedupMs
  const adequate = eligible.filter((health) => (health.findLatencyMs() ?? 0) <= maxMs)
  return adequate[0] ?? current
}

const prove = async (health: EndpointHealth): Promise<void> => {
  await health.probe()
  if (!health.isProven()) throw new Error('The endpoint did not prove its chain')
}

const labelEndpoint = (endpoints: readonly Endpoint[], index: number): string => {
  const host = endpoints[index]?.host ?? ''
  const count = endpoints.slice(0, index).filter((endpoint) => endpoint.host === host).length
  return count === 0 ? host : `${host}#${count + 1}`
}

/**
 * Sends to every reachable endpoint. Resolves with the first response that is sufficient, while the others
 * continue in the background; otherwise with all responses. `send` must not reject.
 */
export const broadcastToAll = async <Response>(
  pool: EndpointPool,
  send: (endpoint: EndpointHealth) => Promise<Response>,
  isSufficient: (response: Response) => boolean,
): Promise<readonly Response[]> => {
  const endpoints = await pool.findReceivers()
  const responses = endpoints.map(send)
  const first = responses.map(async (pending) => {
    const response = await pending
    if (!isSufficient(response)) throw new Error('Not sufficient')
    return response
  })
  try {
    return [await Promise.any(first)]
  } catch {
    return await Promise.all(responses)
  }
}
