import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Account } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { LimitAnswer, LimitWindow, RateLimiter, WindowState } from '../../ports/rateLimiter.js'
import type { RequestLimit } from '../../protocol/requestLimits.js'
import { tiers } from '../../protocol/tiers.js'
import { findRouteLimits, type RouteLimits, type RouteWindow } from '../routeLimits.js'

/** What limits requests. */
export interface RateLimitsDependencies {
  readonly limiter: RateLimiter
  readonly table: readonly RequestLimit[]
  readonly clock: Clock
}

const minuteMs = 60_000

/**
 * Draws each request from every window that binds it, all or nothing and in one go. The hook is the route's own: it
 * runs after those of the app, so that whose request it is has been found out, and costs nothing where there is no
 * limit.
 */
export const rateLimits = fastifyPlugin<RateLimitsDependencies>(
  (app, dependencies, done) => {
    if (!app.hasRequestDecorator('account')) app.decorateRequest('account', null)
    app.addHook('onRoute', (route) => {
      const [method = ''] = [route.method].flat()
      const limits = findRouteLimits(dependencies.table, { method, path: route.url })
      if (limits === null) return
      route.onRequest = [createHook(limits, dependencies), ...[route.onRequest ?? []].flat()]
    })
    done()
  },
  { name: 'rateLimits' },
)

const createHook =
  (limits: RouteLimits, { limiter, clock }: RateLimitsDependencies) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (limits.needsSharedCount) refuseUnshared(limiter)
    const { account } = request
    const windows = account === null ? listAnonymous(limits, request) : listKeyed(limits, request, account)
    if (windows.length === 0) return
    const answer = await limiter.take(windows)
    // The store may have gone with this very request, which was counted by this process alone.
    if (limits.needsSharedCount) refuseUnshared(limiter)
    const index = findBinding(answer)
    const window = windows[index]
    const state = answer.windows[index]
    if (window === undefined || state === undefined) return
    const resetsAtMs = state.resetsAt.getTime()
    reply.header('x-ratelimit-limit', window.limit)
    reply.header('x-ratelimit-remaining', state.remaining)
    reply.header('x-ratelimit-reset', Math.ceil(resetsAtMs / 1_000))
    if (account !== null) reply.header('x-ratelimit-tier', account.tier)
    if (answer.isAllowed) return
    const leftSeconds = Math.ceil((resetsAtMs - clock.now().getTime()) / 1_000)
    throw new AppError('RATE_LIMITED', 'Too many requests', {
      operationalCode: 'SVC-2005',
      // The clock of a shared store may differ from ours.
      retryAfterSeconds: Math.min(Math.max(1, leftSeconds), window.windowMs / 1_000),
    })
  }

const refuseUnshared = (limiter: RateLimiter): void => {
  if (!limiter.isDegraded()) return
  throw new AppError('SERVICE_UNAVAILABLE', 'Keys are not handed out while limits cannot be counted', {
    retryAfterSeconds: 5,
  })
}

const listAnonymous = ({ anonymous }: RouteLimits, request: FastifyRequest): readonly LimitWindow[] => {
  const address = readClientNetwork(request.ip)
  return anonymous.map((window) => toLimitWindow(window, address))
}

const listKeyed = (
  { keyed, isOfTier }: RouteLimits,
  request: FastifyRequest,
  { id, tier }: Account,
): readonly LimitWindow[] => {
  const windows = keyed.map((window) =>
    toLimitWindow(window, window.per === 'account' ? id : readClientNetwork(request.ip)),
  )
  if (isOfTier) windows.push({ key: `tier ${id}`, limit: tiers[tier].rpmLimit, windowMs: minuteMs })
  return windows
}

const toLimitWindow = ({ prefix, limit, windowMs, per }: RouteWindow, whose: string): LimitWindow => ({
  key: per === 'everyone' ? prefix : prefix + whose,
  limit,
  windowMs,
})

/** Which window has the least remaining; of several, the one that ends last. */
const findBinding = ({ windows }: LimitAnswer): number => {
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
