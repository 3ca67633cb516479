import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { setNewest } from '../../concurrency/boundedMap.js'
import { AppError } from '../../errors.js'
import { readClientNetworks, siteFactor } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { LimitWindow, RateLimiter, RateLimitResult, WindowState } from '../../ports/rateLimiter.js'
import type { RequestLimit } from '../../protocol/requestLimits.js'
import { getTier, higherRate, specificationTiers, type Tiers } from '../../protocol/tiers.js'
import type { KeyHolder } from '../../usecases/dashboard/useCases.js'
import { findRouteLimits, type RouteLimits, type RouteWindow } from '../routeLimits.js'
import { markRefused } from '../server/refusals.js'

export interface RateLimitsDependencies {
  readonly limiter: RateLimiter
  readonly table: readonly RequestLimit[]
  readonly clock: Clock
  /** Default: the table of the specification. */
  readonly tiers?: Tiers
}

const minuteMs = 60_000
const dayMs = 86_400_000

/**
 * One region has so many newcomers a day: an owner of many addresses cannot exhaust the window of newcomers. Providers have
 * thousands of IPv4 /24, but often all customers in one IPv6 /32.
 */
const newcomersPerRegion = { ipv4: 8, ipv6: 64 }

/** Adds a hook to each limited route, which runs after authentication. */
export const rateLimits = fastifyPlugin<RateLimitsDependencies>(
  (app, dependencies, done) => {
    if (!app.hasRequestDecorator('account')) app.decorateRequest('account', null)
    app.addHook('onRoute', (route) => {
      const [method = ''] = [route.method].flat()
      const limits = findRouteLimits(dependencies.table, { method, path: route.url })
      if (limits === null) return
      const { validOnly } = limits
      route.onRequest = [createHook(limits, limits, dependencies), ...[route.onRequest ?? []].flat()]
      if (validOnly === null) return
      // It runs last, after the route's own checks of the body.
      const counted = createHook(limits, { ...validOnly, tierCount: null }, dependencies)
      route.preHandler = [...[route.preHandler ?? []].flat(), counted]
    })
    done()
  },
  { name: 'rateLimits' },
)

/** Networks whose windows each limited route remembers. */
const maxRemembered = 1_000

type CountedWindow = Omit<RouteWindow, 'sparesNewcomers'>
type CountedWindows = Pick<RouteLimits, 'anonymous' | 'keyed' | 'unproven' | 'tierCount'>

const createHook = (
  { requiresSharedStore }: RouteLimits,
  limits: CountedWindows,
  { limiter, clock, tiers = specificationTiers }: RateLimitsDependencies,
) => {
  const anonymous = new Map<string, readonly LimitWindow[]>()
  const findAnonymous = (request: FastifyRequest): readonly LimitWindow[] => {
    const { network } = readClientNetworks(request.ip)
    const known = anonymous.get(network)
    if (known !== undefined) return known
    const listed = listAnonymous(limits, request)
    setNewest(anonymous, network, listed, maxRemembered)
    return listed
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (requiresSharedStore) requireSharedStore(limiter)
    const { account } = request
    if (account !== null) reply.header('x-ratelimit-tier', account.tier)
    const windows =
      account === null
        ? findAnonymous(request)
        : [...listKeyed(limits, request, account), ...listTierWindows(limits, request, account, tiers)]
    if (windows.length === 0) return
    const take = async (taken: readonly LimitWindow[]): Promise<RateLimitResult> => {
      const result = await limiter.take(taken)
      if (!requiresSharedStore) return result
      try {
        // The store may have failed during this request, which was then counted locally.
        requireSharedStore(limiter)
        return result
      } catch (error) {
        // Nothing is done for it, so that it must not refuse the next attempt. What Redis counts late stays.
        if (result.isAllowed) await limiter.refund(taken, result)
        throw error
      }
    }
    const newcomer = findNewcomer(account === null ? limits.anonymous : limits.keyed, request)
    const result = await take(newcomer === null ? windows : [...windows, newcomer.mark])
    const index = findTightest(result.windows.slice(0, windows.length))
    const window = windows[index]
    const state = result.windows[index]
    if (window === undefined || state === undefined) return
    const resetsAtMs = state.resetsAt.getTime()
    // The headers describe the tightest window of both counts of a request.
    if (Number(reply.getHeader('x-ratelimit-remaining') ?? Number.POSITIVE_INFINITY) >= state.remaining) {
      reply.header('x-ratelimit-limit', window.limit)
      reply.header('x-ratelimit-remaining', state.remaining)
      reply.header('x-ratelimit-reset', Math.ceil(resetsAtMs / 1_000))
    }
    if (result.isAllowed) return
    if (newcomer !== null && windows[result.refusedBy ?? 0]?.key === newcomer.sharedKey) {
      const own = windows.filter(({ key }) => key !== newcomer.sharedKey)
      if ((await take([...own, ...newcomer.windows])).isAllowed) return
    }
    markRefused(reply.raw)
    const remainingSeconds = Math.ceil((resetsAtMs - clock.now().getTime()) / 1_000)
    throw new AppError('RATE_LIMITED', 'Too many requests', {
      operationalCode: 'SVC-2005',
      // The clock of the shared store may differ from ours.
      retryAfterSeconds: Math.min(Math.max(1, remainingSeconds), window.windowMs / 1_000),
    })
  }
}

const requireSharedStore = (limiter: RateLimiter): void => {
  if (!limiter.isDegraded()) return
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    'Registration and lookup are closed while rate limits cannot be shared between instances',
    {
      retryAfterSeconds: 5,
    },
  )
}

interface Newcomer {
  /** It names the window of all callers. */
  readonly sharedKey: string
  /** Counts a request that the window of all callers allowed: its address is no newcomer for a day. */
  readonly mark: LimitWindow
  /** They count instead of the window of all callers. */
  readonly windows: readonly LimitWindow[]
}

/** A newcomer is an IPv4 address, or an IPv6 /48, that drew nothing for a day. */
const findNewcomer = (windows: readonly RouteWindow[], request: FastifyRequest): Newcomer | null => {
  const shared = windows.find(({ sparesNewcomers }) => sparesNewcomers)
  if (shared === undefined) return null
  const { network, site, region } = readClientNetworks(request.ip)
  const key = `${shared.prefix}newcomers`
  const own = { key: `${key} ${site ?? network}`, limit: 1, windowMs: dayMs }
  return {
    sharedKey: shared.prefix,
    mark: { ...own, isUnrefusable: true },
    windows: [
      { key, limit: shared.limit, windowMs: shared.windowMs },
      own,
      {
        key: `${key} ${region}`,
        limit: newcomersPerRegion[site === null ? 'ipv4' : 'ipv6'],
        windowMs: dayMs,
      },
    ],
  }
}

const listAnonymous = ({ anonymous }: CountedWindows, request: FastifyRequest): readonly LimitWindow[] =>
  anonymous.flatMap((window) => toAddressWindows(window, request))

const listKeyed = (
  { keyed, unproven }: CountedWindows,
  request: FastifyRequest,
  { customer, isProven }: KeyHolder,
): readonly LimitWindow[] =>
  [...keyed, ...(isProven ? [] : unproven)].flatMap((window) =>
    window.per === 'customer' ? [toLimitWindow(window, customer)] : toAddressWindows(window, request),
  )

/** Customers that are not proven have together, at one address, what one of them or a caller without a key has there. */
const listTierWindows = (
  { tierCount }: CountedWindows,
  request: FastifyRequest,
  { customer, isProven, tier }: KeyHolder,
  tiers: Tiers,
): readonly LimitWindow[] => {
  if (tierCount === null) return []
  const limit = higherRate(getTier(tiers, tier).rpmLimit, tierCount.floor)
  if (limit < 0) return []
  const own = { key: `tier ${tierCount.name} ${customer}`, limit, windowMs: minuteMs }
  const ceiling = higherRate(limit, tierCount.anonymous)
  if (isProven || ceiling < 0) return [own]
  const prefix = `tier ${tierCount.name} unproven `
  const shared = { prefix, limit: ceiling, windowMs: minuteMs, per: 'address', siteFactor } as const
  return [own, ...toAddressWindows(shared, request)]
}

/** IPv6 clients count twice: their /64 network, and the /48 around it with a higher limit. */
const toAddressWindows = (window: CountedWindow, request: FastifyRequest): readonly LimitWindow[] => {
  const { network, site } = readClientNetworks(request.ip)
  const narrow = toLimitWindow(window, network)
  if (site === null || window.per !== 'address') return [narrow]
  return [narrow, toLimitWindow({ ...window, limit: window.limit * window.siteFactor }, site)]
}

const toLimitWindow = ({ prefix, limit, windowMs, per }: CountedWindow, subject: string): LimitWindow => ({
  key: per === 'everyone' ? prefix : prefix + subject,
  limit,
  windowMs,
})

/** Index of the window with the fewest requests remaining; on a tie, the one that resets last. */
const findTightest = (windows: readonly WindowState[]): number => {
  let binding = 0
  for (let index = 1; index < windows.length; index += 1) {
    if (isTighter(windows[index], windows[binding])) binding = index
  }
  return binding
}

const isTighter = (one: WindowState | undefined, other: WindowState | undefined): boolean => {
  if (one === undefined || other === undefined) return false
  if (one.remaining !== other.remaining) return one.remaining < other.remaining
  return one.resetsAt > other.resetsAt
}
