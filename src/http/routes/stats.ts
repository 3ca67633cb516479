import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { requestStatisticsSchema, settlementStatisticsSchema } from '../schemas/stats.js'

export interface StatsRoutesDependencies {
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
