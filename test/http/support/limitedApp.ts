import fastify, { type FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../../src/errors.js'
import { authFailureLimit } from '../../../src/http/plugins/authentication.js'
import { errorResponses } from '../../../src/http/plugins/errorResponses.js'
import { rateLimits } from '../../../src/http/plugins/rateLimits.js'
import { isProbe } from '../../../src/http/server/readRequest.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { RateLimiter } from '../../../src/ports/rateLimiter.js'
import {
  defaultRequestLimits,
  listRequestLimits,
  type RequestLimitSettings,
} from '../../../src/protocol/requestLimits.js'
import { type TierName, type Tiers, tiers } from '../../../src/protocol/tiers.js'
import type { KeyHolder } from '../../../src/usecases/dashboard/useCases.js'
import { apiKeyOf } from '../../support/apiKeyOf.js'

export interface LimitedAppOptions {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly figures?: Partial<RequestLimitSettings>
  readonly trustProxy?: readonly string[]
  readonly onLookUp?: (key: string) => void
  readonly tiers?: Tiers
}

const routes = [
  ...[
    'POST /verify',
    'POST /discovery/validate',
    'POST /v1/discovery/validate',
    'POST /settle',
    'GET /supported',
    'GET /tiers',
    'POST /v1/intent/:id/execute',
    'POST /v1/stream/open',
    'POST /v1/stream/update',
    'POST /v1/stream/close',
    'POST /v1/intent',
    'POST /v1/intent/:id/refresh',
    'POST /v1/intent/:id/route',
  ],
  ...['GET /health', 'GET /ready', 'GET /metrics', 'GET /docs/', 'POST /register', 'POST /lookup'],
  ...['GET /dashboard/info', 'GET /dashboard/keys', 'POST /dashboard/rotate', 'POST /dashboard/webhook/test'],
  ...['POST /dashboard/api-keys', 'POST /dashboard/restrictions', 'POST /dashboard/webhook'],
  ...['POST /dashboard/recipients', 'POST /dashboard/recipients/message'],
  ...['POST /sandbox/scenarios', 'POST /sandbox/inbox', 'POST /sandbox/clock/advance'],
  ...['POST /v1/siwx/nonce', 'POST /v1/siwx/verify', 'POST /v1/credit/refresh'],
] as const

const isTier = (name: string): name is TierName => name in tiers

/** `free 1@ada`, `free 2@ada`: keys of one customer. `free 1?ada`: of one that is not proven. */
const readCustomer = (key: string) => {
  const [, , sign, customer = key] = /^([^@?]+)([@?])(.+)$/.exec(key) ?? []
  return { customer, isProven: sign !== '?' }
}

const accountOf = (key: string, tier: TierName): KeyHolder => ({
  id: key,
  email: 'dev@example.com',
  project: 'shop',
  tier,
  status: 'active',
  createdAt: new Date(0),
  allowedIPs: null,
  allowedRef: null,
  ...readCustomer(key),
  key: apiKeyOf(),
})

/** Replaces authentication: `free`, `free 2`, `scale` … are keys of these tiers; other keys are unknown. */
const authentication = fastifyPlugin<{ readonly onLookUp: (key: string) => void }>(
  async (app, { onLookUp }) => {
    app.addHook('onRequest', async (request) => {
      const key = request.headers['x-api-key']
      if (typeof key !== 'string' || isProbe(request)) return
      onLookUp(key)
      const [tier = ''] = key.split(' ')
      if (!isTier(tier)) {
        request.onKeyRefused?.()
        throw new AppError('UNAUTHORIZED', 'Unknown API key')
      }
      request.account = accountOf(key, tier)
    })
  },
)

export const limitedApp = ({
  limiter,
  clock,
  figures = {},
  trustProxy = [],
  onLookUp = () => undefined,
  tiers: known,
}: LimitedAppOptions): FastifyInstance => {
  const app = fastify({ trustProxy: trustProxy.length === 0 ? false : [...trustProxy] })
  app.decorateRequest('account', null)
  app.register(errorResponses, { logger: silentLogger })
  app.register(authFailureLimit, { limiter, clock, logger: silentLogger })
  app.register(authentication, { onLookUp })
  app.register(rateLimits, {
    limiter,
    clock,
    table: listRequestLimits({ ...defaultRequestLimits, ...figures }),
    ...(known === undefined ? {} : { tiers: known }),
  })
  app.register(async (scope) => {
    for (const route of routes) {
      const [method = '', url = ''] = route.split(' ')
      scope.route({ method, url, handler: async () => ({ served: route }) })
    }
    scope.options('*', async (_request, reply) => await reply.code(204).send())
  })
  return app
}
