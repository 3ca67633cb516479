import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { AppError } from '../../errors.js'
import type { MeasuredKind, Metrics } from '../../platform/metrics.js'
import type { Secret } from '../../platform/secret.js'
import type { Clock } from '../../ports/clock.js'
import { isPriceRequest } from '../../protocol/accepts.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { WireRequirements } from '../../protocol/wire.js'
import { cacheFor } from '../../usecases/cacheFor.js'
import type { CoreUseCases, SettleResponse } from '../../usecases/core/useCases.js'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { readQuotaClaim, readRequester } from '../auth/caller.js'
import { createTokenCheck, type OperatorGate } from '../auth/operatorGate.js'
import { readIdempotencyKey, rejectMalformedKey } from '../idempotencyKey.js'
import { forbidCaching, isClientGone } from '../reply.js'
import { acceptsSchema } from '../schemas/accepts.js'
import {
  healthSchema,
  infoSchema,
  metricsSchema,
  readySchema,
  settlementSchema,
  settlementsSchema,
  settleSchema,
  supportedSchema,
  verifySchema,
} from '../schemas/core.js'
import { routerSchema } from '../schemas/router.js'
import { requiresOperator } from '../schemas/settlementsQuery.js'
import { requestStatisticsSchema, settlementStatisticsSchema } from '../schemas/stats.js'
import { tiersSchema } from '../schemas/tiers.js'

interface CoreRoutesDependencies {
  readonly useCases: CoreUseCases
  readonly metrics: Metrics
  readonly requireOperator: OperatorGate['requireOperator']
  readonly maxBodyBytes: number
  readonly tiers: Tiers
}

interface ServiceRoutesDependencies extends Pick<CoreRoutesDependencies, 'useCases' | 'metrics' | 'tiers'> {
  readonly clock: Clock
  /** Null: /metrics is public. */
  readonly metricsToken: Secret | null
}

const metricsMaxAgeMs = 1_000

export const serviceRoutes: FastifyPluginCallbackZod<ServiceRoutesDependencies> = (
  app,
  { useCases, metrics, clock, metricsToken, tiers },
  done,
) => {
  // A scrape costs milliseconds, and the route has no limits.
  const readMetrics = cacheFor(clock, metricsMaxAgeMs, () => metrics.registry.metrics())
  const carriesMetricsToken = metricsToken === null ? null : createTokenCheck(metricsToken)

  app.get('/health', { schema: healthSchema, config: { access: 'public' } }, async (_request, reply) => {
    forbidCaching(reply)
    return { status: 'ok' as const }
  })

  app.get('/ready', { schema: readySchema, config: { access: 'public' } }, async (_request, reply) => {
    forbidCaching(reply)
    const readiness = await useCases.checkReadiness()
    return await reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness)
  })

  app.get('/metrics', { schema: metricsSchema, config: { access: 'public' } }, async (request, reply) => {
    forbidCaching(reply)
    if (carriesMetricsToken !== null && !carriesMetricsToken(request)) {
      throw new AppError('UNAUTHORIZED', 'Send METRICS_TOKEN as Authorization: Bearer')
    }
    reply.type(metrics.registry.contentType)
    return await readMetrics()
  })

  app.get('/info', { schema: infoSchema, config: { access: 'public' } }, async () => ({
    ...useCases.describeService(),
    endpoints: app
      .listRoutes()
      .filter(({ isDocumented }) => isDocumented)
      .map(({ method, path, summary }) => ({ method, path, description: summary })),
  }))

  app.get('/tiers', { schema: tiersSchema, config: { access: 'public' } }, async () => ({
    tiers: tiers.table,
    source: tiers.source,
    registrationTier: tiers.registration,
  }))

  app.get('/supported', { schema: supportedSchema, config: { access: 'public' } }, async () =>
    useCases.listSupported(),
  )

  app.get(
    '/v1/router',
    { schema: routerSchema, config: { access: 'public' } },
    async ({ query }) => await useCases.findRouter(query),
  )
  done()
}

export const paymentRoutes: FastifyPluginCallbackZod<CoreRoutesDependencies> = (
  app,
  { useCases, metrics, requireOperator, maxBodyBytes, tiers },
  done,
) => {
  app.addHook('onRequest', (_request, reply, next) => {
    forbidCaching(reply)
    next()
  })

  app.post(
    '/verify',
    { schema: verifySchema, config: { access: 'key', scope: 'verify' }, bodyLimit: maxBodyBytes },
    async (request, reply) => {
      const { body, caller } = request
      const kind = readKind(body.paymentRequirements)
      try {
        const result = await useCases.verifyPayment({
          body,
          caller,
          requester: readRequester(request),
          quota: readQuotaClaim(request, tiers),
          isAwaited: () => !isClientGone(reply),
        })
        metrics.countVerify(kind, result.isValid ? 'valid' : 'invalid')
        return result
      } catch (error) {
        const isAborted = isClientGone(reply)
        metrics.countVerify(kind, isAborted ? 'aborted' : 'error')
        if (isAborted) throw new AppError('INVALID_REQUEST', 'The client hung up', { cause: error })
        throw error
      }
    },
  )

  app.post(
    '/settle',
    {
      schema: settleSchema,
      config: { access: 'key', scope: 'settle' },
      bodyLimit: maxBodyBytes,
      onRequest: rejectMalformedKey,
    },
    async (request, reply) => {
      const { body, caller } = request
      const kind = readKind(body.paymentRequirements)
      try {
        const response = await useCases.settlePayment({
          body,
          caller,
          requester: readRequester(request),
          quota: readQuotaClaim(request, tiers),
          idempotencyKey: readIdempotencyKey(request),
          isAwaited: () => !isClientGone(reply),
        })
        metrics.countSettle(kind, describeOutcome(response))
        if (response.isReplayed) reply.header('x-idempotency-replayed', 'true')
        const { extensions } = response.result
        if (extensions !== undefined) reply.header('extension-responses', encodeHeader(extensions))
        return response.result
      } catch (error) {
        metrics.countSettle(kind, 'error')
        throw error
      }
    },
  )

  app.post(
    '/accepts',
    { schema: acceptsSchema, config: { access: 'public' }, bodyLimit: maxBodyBytes },
    async ({ body, caller }, reply) => {
      if (isPriceRequest(body)) return await reply.code(402).send(await useCases.priceAccepts(body, caller))
      return await useCases.completeAccepts(body, caller)
    },
  )

  app.get(
    '/v1/settlements/:id',
    { schema: settlementSchema, config: { access: 'public' } },
    async ({ params }) => await useCases.getSettlement(params.id.toLowerCase()),
  )

  app.get(
    '/v1/settlements',
    // By transaction: public. By status: operators only, checked in the handler.
    {
      schema: settlementsSchema,
      config: { access: 'public', requiresOperator },
    },
    async (request) => {
      const { query } = request
      if ('ofTransaction' in query) return await useCases.getSettlementByTransaction(query.ofTransaction)
      requireOperator(request)
      return await useCases.listSettlements(query.ofStatus)
    },
  )
  done()
}

const readKind = ({ scheme, network }: WireRequirements): MeasuredKind => ({
  scheme,
  network: canonicalNetwork(network),
})

/** As x402 reads it: base64 of the JSON. */
const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

const describeOutcome = ({ result, isReplayed }: SettleResponse) => {
  if (isReplayed) return 'replayed'
  if (result.success) return 'confirmed'
  return result.errorReason === 'settlement_pending' ? 'pending' : 'failed'
}

interface StatsRoutesDependencies {
  readonly useCases: StatsUseCases
}

export const statsRoutes: FastifyPluginCallbackZod<StatsRoutesDependencies> = (app, { useCases }, done) => {
  app.get(
    '/stats/requests',
    { schema: requestStatisticsSchema, config: { access: 'public' } },
    async () => await useCases.readRequestStatistics(),
  )

  app.get(
    '/stats/settlements',
    { schema: settlementStatisticsSchema, config: { access: 'public' } },
    async () => await useCases.readSettlementStatistics(),
  )
  done()
}
