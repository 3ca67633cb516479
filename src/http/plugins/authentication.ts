import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { setNewest } from '../../concurrency/boundedMap.js'
import { AppError } from '../../errors.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { DashboardUseCases, PresentedKey } from '../../usecases/dashboard/useCases.js'
import { type Access, findRequiredScope } from '../auth/caller.js'
import type { OperatorGate } from '../auth/operatorGate.js'
import { type AcceptedKeys, findCredentialHash, readPresentedKey } from '../auth/presentedKey.js'
import { isProbe } from '../server/readRequest.js'
import { markRefused } from '../server/refusals.js'

interface AuthenticationOptions {
  readonly authenticate: DashboardUseCases['authenticate']
  readonly acceptedKeys: AcceptedKeys
  readonly operatorGate: OperatorGate
  readonly apiKeyRequired: boolean
}

/**
 * Runs before the body is read. An invalid key is rejected on every route but the probes; a credential of another
 * service only where a key is needed.
 */
export const authentication = fastifyPlugin<AuthenticationOptions>(
  (app, { authenticate, acceptedKeys, operatorGate, apiKeyRequired }, done) => {
    const findHolder = async (request: FastifyRequest) => {
      const apiKey = readPresentedKey(request, !carriesOperatorToken(request, operatorGate))
      if (apiKey === null || apiKey === 'foreign') return { presented: apiKey, holder: null }
      const account = await findAccount(authenticate, {
        apiKey: apiKey.reveal(),
        address: request.ip,
        refererHost: findRefererHost(request.headers),
        scope: findRequiredScope(request.method, request.routeOptions.config),
      })
      return { presented: apiKey, holder: { apiKey, account } }
    }

    const authenticateRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (request.routeOptions.config.access === 'operator') operatorGate.requireOperator(request)
      const { presented, holder } = await findHolder(request).catch((error: unknown) => {
        if (isKeyRefusal(error)) {
          acceptedKeys.remove(request.headers)
          request.onKeyRefused?.()
          markRefused(reply.raw)
        }
        throw error
      })
      if (holder === null) {
        if (requiresKey(request.routeOptions.config.access, apiKeyRequired)) {
          markRefused(reply.raw)
          rejectAnonymous(presented)
        }
        return
      }
      acceptedKeys.add(request.headers, holder.account)
      request.caller = holder.account.id
      request.account = holder.account
      request.apiKey = holder.apiKey
    }

    /** A request that presents no key and needs none is not delayed by a promise. */
    const isPublic = ({ headers, routeOptions: { config } }: FastifyRequest): boolean =>
      headers.authorization === undefined &&
      headers['x-api-key'] === undefined &&
      config.access !== 'operator' &&
      !requiresKey(config.access, apiKeyRequired)

    app.addHook('onRequest', (request, reply, next) => {
      if (isProbe(request) || isPublic(request)) next()
      else authenticateRequest(request, reply).then(() => next(), next)
    })
    done()
  },
  { name: 'authentication' },
)

/** A 403 is none: the key is valid, and must stay usable for other routes and from other addresses. */
const isKeyRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'UNAUTHORIZED'

/** On routes that also serve operators, their token is not treated as an API key. */
const carriesOperatorToken = (request: FastifyRequest, { isOperator }: OperatorGate): boolean => {
  const { access, requiresOperator } = request.routeOptions.config
  if (access === 'operator') return true
  return requiresOperator !== undefined && (requiresOperator(request) || isOperator(request))
}

const requiresKey = (access: Access | undefined, apiKeyRequired: boolean): boolean => {
  switch (access) {
    case 'dashboard':
      return true
    case 'key':
      return apiKeyRequired
    case 'public':
    case 'operator':
    case undefined:
      return false
  }
}

const rejectAnonymous = (presented: unknown): never => {
  throw new AppError(
    'UNAUTHORIZED',
    presented === null
      ? 'An API key is required: send it as Authorization: Bearer or as X-API-Key'
      : 'An API key is required, and what was sent is not one of this service: its keys start with qtn_sk_',
  )
}

const findAccount = async (authenticate: DashboardUseCases['authenticate'], use: PresentedKey) => {
  try {
    return await authenticate(use)
  } catch (error) {
    if (error instanceof AppError) throw error
    // 503, not 401: the key may be valid, so the caller should retry.
    throw new AppError('SERVICE_UNAVAILABLE', 'API keys cannot be checked at the moment', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
}

const findRefererHost = ({ referer, origin }: IncomingHttpHeaders): string | null =>
  readHost(referer) ?? readHost(origin)

const readHost = (url: string | undefined): string | null => {
  if (url === undefined || !URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return hostname === '' ? null : hostname.toLowerCase()
}

interface AuthFailureLimitDependencies {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

export const maxAuthFailuresPerMinute = 30

const minuteMs = 60_000
const maxTracked = 10_000

/**
 * Rejects a credential that an address has presented wrongly too often, before the key lookup. Counts only what
 * authentication refuses: a valid key may carry any number of requests that are answered 401 for another reason, such as
 * another party's wallet sign-in. An address is never rejected:
 * clients behind one NAT or proxy share it, and guessing 256 random bits needs no limit. Must be registered before
 * authentication.
 */
export const authFailureLimit = fastifyPlugin<AuthFailureLimitDependencies>(
  (app, { limiter, clock, logger }, done) => {
    if (!app.hasRequestDecorator('onKeyRefused')) app.decorateRequest('onKeyRefused', null)
    const blockedUntilMs = new Map<string, number>()

    const readBlockedMs = (pair: string): number => {
      const untilMs = blockedUntilMs.get(pair)
      if (untilMs === undefined) return 0
      const remainingMs = untilMs - clock.now().getTime()
      if (remainingMs <= 0) blockedUntilMs.delete(pair)
      return remainingMs
    }

    const recordFailure = async (pair: string): Promise<void> => {
      const window = { key: `refused keys ${pair}`, limit: maxAuthFailuresPerMinute, windowMs: minuteMs }
      const { windows } = await limiter.take([window])
      if (windows[0]?.remaining !== 0) return
      const remainingMs = windows[0].resetsAt.getTime() - clock.now().getTime()
      const untilMs = clock.now().getTime() + Math.min(Math.max(remainingMs, 1_000), minuteMs)
      setNewest(blockedUntilMs, pair, untilMs, maxTracked)
    }

    app.addHook('onRequest', (request, reply, next) => {
      const credential = findCredentialHash(request.headers)
      if (credential === null || isProbe(request)) {
        next()
        return
      }
      const pair = `${readClientNetwork(request.ip)} ${credential}`
      const blockedMs = readBlockedMs(pair)
      if (blockedMs > 0) {
        markRefused(reply.raw)
        next(
          new AppError('RATE_LIMITED', 'This API key was refused too often from this address', {
            operationalCode: 'SVC-2005',
            retryAfterSeconds: blockedMs / 1_000,
          }),
        )
        return
      }
      request.onKeyRefused = () => {
        recordFailure(pair).catch((error: unknown) => logger.warn({ error }, 'refused_keys.count_failed'))
      }
      next()
    })
    done()
  },
  { name: 'authFailureLimit' },
)
