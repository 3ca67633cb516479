import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { AppError } from '../../errors.js'
import type { Secret } from '../../platform/secret.js'
import type { Clock } from '../../ports/clock.js'
import type { Tiers } from '../../protocol/tiers.js'
import { cacheFor } from '../../usecases/cacheFor.js'
import type { CoreUseCases } from '../../usecases/core/useCases.js'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { createTokenCheck } from '../auth/operatorGate.js'
import { forbidCaching } from '../reply.js'
import { routerSchema } from '../schemas/accepts.js'
import { reasonsSchema } from '../schemas/explain.js'
import {
  healthSchema,
  infoSchema,
  metricsSchema,
  readySchema,
  requestStatisticsSchema,
  settlementStatisticsSchema,
  supportedSchema,
  tiersSchema,
} from '../schemas/service.js'

interface ServiceRoutesDependencies {
  readonly useCases: CoreUseCases
  readonly metrics: { readonly contentType: string; read(): Promise<string> }
  readonly tiers: Tiers
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
  const readMetrics = cacheFor(clock, metricsMaxAgeMs, metrics.read)
  const carriesMetricsToken = metricsToken === null ? null : createTokenCheck(metricsToken)

  app.get('/health', { schema: healthSchema, config: { access: 'public' } }, async (_request, reply) => {
    forbidCaching(reply)
    return { status: 'ok' as const }
  })

  app.get('/ready', { schema: readySchema, config: { access: 'public' } }, async (_request, reply) => {
    forbidCaching(reply)
    if (app.shutdown.isAnnounced()) return await reply.code(503).send({ status: 'stopping', checks: {} })
    const readiness = await useCases.checkReadiness()
    return await reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness)
  })

  app.get('/metrics', { schema: metricsSchema, config: { access: 'public' } }, async (request, reply) => {
    forbidCaching(reply)
    if (carriesMetricsToken !== null && !carriesMetricsToken(request)) {
      throw new AppError('UNAUTHORIZED', 'Send METRICS_TOKEN as Authorization: Bearer')
    }
    reply.type(metrics.contentType)
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

  app.get('/v1/reasons', { schema: reasonsSchema, config: { access: 'public' } }, async (_request, reply) => {
    // They change with the version of the service only.
    reply.header('cache-control', 'public, max-age=3600')
    return useCases.listReasons()
  })
  done()
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
