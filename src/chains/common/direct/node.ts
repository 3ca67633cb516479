import type { z } from 'zod'
import { withTimeout } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { type HealthTime, type Proof, systemTime } from '../../nodes/endpointHealth.js'
import { createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'

/**
 * One read. Throws `RpcError` for a verdict, any other error without a valid response. `isVerdict`: the error response is
 * the chain's answer, the same on every endpoint, such as "not found".
 */
export type Ask = <Schema extends z.ZodType>(
  method: string,
  params: unknown,
  schema: Schema,
  options?: { readonly isVerdict?: (error: RpcError) => boolean },
) => Promise<z.infer<Schema>>

/** Null if the chain's answer is this error, such as "not found". */
export const askOrNull = async <Schema extends z.ZodType>(
  ask: Ask,
  { method, params, schema, isVerdict }: NullableRead<Schema>,
): Promise<z.infer<Schema> | null> => {
  try {
    return await ask(method, params, schema, { isVerdict })
  } catch (error) {
    if (error instanceof RpcError && isVerdict(error)) return null
    throw error
  }
}

interface NullableRead<Schema extends z.ZodType> {
  readonly method: string
  readonly params: unknown
  readonly schema: Schema
  readonly isVerdict: (error: RpcError) => boolean
}

/** The endpoints of a network on which we only read. */
export interface DirectNode {
  readonly network: string
  readonly endpoints: readonly Endpoint[]
  /** From the best endpoint, with failover; throws SVC-2004 when none responds. */
  readonly ask: Ask
  /** Healthy endpoints, for cross-checks. */
  listWitnesses(): readonly Endpoint[]
  /** Resolves to whether an endpoint is available. */
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
  /**
   * Seconds since the newest block that an available endpoint reported, or any endpoint where none is available; null before
   * the first probe.
   */
  findHeadAgeSeconds(): number | null
  /** False while the newest known block is too old for "not found" to mean anything. */
  isFresh(): boolean
  /** Asks the endpoints for their newest blocks, unless it did so within 5 s. Waits at most 2 s; never throws. */
  refresh(): Promise<void>
}

// While the chain itself stands still, each request for what it lacks would otherwise ask once more.
const refreshPauseMs = 5_000
const refreshWaitMs = 2_000

export interface DirectNodeOptions {
  readonly network: string
  /** What `prove` must return as its chain. */
  readonly chain: string
  readonly prove: (endpoint: Endpoint) => Promise<Proof>
  readonly maxHeadAgeSeconds: number
  readonly logger: Logger
  /** Default: that of the machine. */
  readonly time?: HealthTime
}

export const createDirectNode = (
  endpoints: readonly Endpoint[],
  { network, chain, prove, maxHeadAgeSeconds, logger, time = systemTime }: DirectNodeOptions,
): DirectNode => {
  let refreshedAtMs = Number.NEGATIVE_INFINITY
  let refreshing: Promise<void> | null = null
  const pool = createEndpointPool(endpoints, { identity: { network, chain, prove }, logger, time })

  const findHeadAgeSeconds = (): number | null => {
    const reports = pool.report()
    const available = reports.filter(({ isUp }) => isUp)
    // Endpoints that back off may be read from all the same, so their old blocks still count.
    const known = (available.length > 0 ? available : reports)
      .map(({ headTimestamp }) => headTimestamp)
      .filter((timestamp) => timestamp !== null)
    return known.length === 0 ? null : time.unixSeconds() - Math.max(...known)
  }

  const startRefresh = async (): Promise<void> => {
    await pool.probe()
    refreshedAtMs = time.monotonicMs()
    refreshing = null
  }

  return {
    network,
    endpoints,
    ask: createReader(pool, { network, logger, time }),
    listWitnesses: () => pool.listHealthy().map(({ endpoint }) => endpoint),
    probe: pool.probe,
    listHealth: pool.report,
    findHeadAgeSeconds,
    isFresh: () => {
      const age = findHeadAgeSeconds()
      return age === null || age <= maxHeadAgeSeconds
    },
    refresh: async () => {
      if (time.monotonicMs() - refreshedAtMs >= refreshPauseMs) refreshing ??= startRefresh()
      if (refreshing !== null) await withTimeout(refreshing, refreshWaitMs).catch(() => undefined)
    },
  }
}
