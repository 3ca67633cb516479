import { setNewest } from '../../concurrency/boundedMap.js'
import { type RequestLimit, tierRatedEndpoints } from '../../protocol/requestLimits.js'
import { getTier, higherRate, type Tiers } from '../../protocol/tiers.js'
import { findTierEndpoint, type RequestLine, readPath } from './readRequest.js'
import { type Caller, createContention } from './turns.js'

export interface PacedCaller extends Caller {
  /** It is null without a key that this process accepted. */
  readonly tier: string | null
}

export interface PacedRequest {
  readonly readsChains: boolean
  /** Requests a minute that every tier has for its endpoint apart from all others; 0: it has none apart. */
  readonly apartPerMinute: number
}

export interface PaceOptions {
  /** How many requests a second callers of a tier may begin; infinite: no bound. */
  readonly findRate: (tier: string | null, request: Pick<PacedRequest, 'apartPerMinute'>) => number
  readonly now?: () => number
}

export interface Pace {
  /** Milliseconds until a request that has arrived now may begin. */
  findDelay(caller: PacedCaller, request?: PacedRequest): number
}

/** Burst: so many requests begin at once after a pause. */
const burst = 8
/** Only requests over their limits would wait for longer. */
const maxDelayMs = 15_000
const maxBuckets = 20_000

/** Requests that read chains cost several times as much as others. Proven keys of one site share this rate, too. */
const chainReadsPerSecond = 20
const chainReadsBurst = 2

const plainRequest: PacedRequest = { readsChains: false, apartPerMinute: 0 }

/**
 * Limits count requests a minute, and a caller may send those of a minute in a second, for which all others would wait.
 * So while several callers send requests, those of each begin at a steady rate. Nothing is refused.
 * Customers with a proven mailbox have a rate each; all other keys of a site one, and its anonymous requests one.
 */
export const createPace = ({ findRate, now = () => performance.now() }: PaceOptions): Pace => {
  /** When the next request of a bucket is due at its rate. The map is ordered by last use. */
  const dueAtMs = new Map<string, number>()
  const contention = createContention(now)

  const takeFrom = (bucket: string, intervalMs: number, atOnce: number, nowMs: number): number => {
    const due = Math.min(Math.max(nowMs, dueAtMs.get(bucket) ?? 0), nowMs + maxDelayMs)
    setNewest(dueAtMs, bucket, due + intervalMs, maxBuckets)
    return Math.max(0, due - nowMs - (atOnce - 1) * intervalMs)
  }

  return {
    findDelay: (caller, request = plainRequest) => {
      const nowMs = now()
      contention.note(caller)
      const rate = findRate(caller.tier, request)
      if (!contention.isContended() || rate === Number.POSITIVE_INFINITY) return 0
      const bucket = request.apartPerMinute > 0 ? `apart ${nameBucket(caller)}` : nameBucket(caller)
      const delayMs = takeFrom(bucket, 1_000 / rate, burst, nowMs)
      if (!request.readsChains) return delayMs
      const readsIntervalMs = 1_000 / chainReadsPerSecond
      return Math.max(delayMs, takeFrom(`reads of ${caller.site}`, readsIntervalMs, chainReadsBurst, nowMs))
    },
  }
}

const nameBucket = ({ isProven, customer, site }: Caller): string => {
  if (customer === null) return `anonymous ${site}`
  return isProven ? `customer ${customer}` : `keys ${site}`
}

const readingPath = /^\/v1\/(?:explain$|intent(?:$|\/[^/]+\/refresh$))/

/** What decides how fast requests begin beside those of other callers. */
export const describePace = (request: RequestLine): PacedRequest => ({
  // These endpoints read balances of wallets that the caller names.
  readsChains: request.method === 'POST' && readingPath.test(readPath(request)),
  apartPerMinute: tierRatedEndpoints.get(findTierEndpoint(request)) ?? 0,
})

/** While others call too, the requests that the limits allow in a minute are spread over at least so long. */
const minuteTakesSeconds = 12
const minPacePerSecond = 50

/** Without limits (null) every rate is infinite. */
export const createFindRate = (
  limits: readonly RequestLimit[] | null,
  tiers: Tiers,
): PaceOptions['findRate'] => {
  const anonymous = limits?.find(({ endpoint, per }) => endpoint === '*' && per === 'address')
  return (tier, { apartPerMinute }) => {
    if (limits === null || anonymous === undefined) return Number.POSITIVE_INFINITY
    const everybody = Math.max(anonymous.limit, apartPerMinute)
    const perMinute = tier === null ? everybody : higherRate(getTier(tiers, tier).rpmLimit, everybody)
    return perMinute === -1
      ? Number.POSITIVE_INFINITY
      : Math.max(minPacePerSecond, perMinute / minuteTakesSeconds)
  }
}
