import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { OperatorUseCases } from '../../usecases/operator/useCases.js'
import { forbidCaching } from '../reply.js'
import {
  callersSchema,
  clearPauseSchema,
  listPausesSchema,
  operatorAuditSchema,
  operatorRedeliverSchema,
  overviewSchema,
  revokeAccountSchema,
  searchAccountsSchema,
  setPauseSchema,
  setTierSchema,
} from '../schemas/operator.js'

interface OperatorRoutesDependencies {
  readonly useCases: OperatorUseCases
}

export const operatorRoutes: FastifyPluginCallbackZod<OperatorRoutesDependencies> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', (_request, reply, next) => {
    forbidCaching(reply)
    next()
  })
  const config = { access: 'operator' } as const

  app.get(
    '/v1/operator/overview',
    { schema: overviewSchema, config },
    async () => await useCases.readOverview(),
  )

  app.get('/v1/operator/callers', { schema: callersSchema, config }, async ({ query }) =>
    useCases.readCallers(query.limit),
  )

  app.get(
    '/v1/operator/accounts',
    { schema: searchAccountsSchema, config: { ...config, isLongRead: true } },
    async ({ query }) => await useCases.searchAccounts(query),
  )

  app.post(
    '/v1/operator/accounts/:id/tier',
    { schema: setTierSchema, config },
    async ({ params, body }) => await useCases.setTier(params.id, body.tier),
  )

  app.post(
    '/v1/operator/accounts/:id/revoke',
    { schema: revokeAccountSchema, config },
    async ({ params }) => await useCases.revokeAccount(params.id),
  )

  app.get(
    '/v1/operator/pauses',
    { schema: listPausesSchema, config },
    async () => await useCases.listPauses(),
  )

  app.put(
    '/v1/operator/pauses',
    { schema: setPauseSchema, config },
    async ({ body, ip }) => await useCases.setPause(body, ip),
  )

  app.delete(
    '/v1/operator/pauses',
    { schema: clearPauseSchema, config },
    async ({ query: { by, target }, ip }) => await useCases.clearPause(target, { by, address: ip }),
  )

  app.post(
    '/v1/operator/deliveries/:id/redeliver',
    { schema: operatorRedeliverSchema, config },
    async ({ params, query, ip }) => await useCases.redeliver(params.id, { by: query.by, address: ip }),
  )

  app.get(
    '/v1/operator/audit',
    { schema: operatorAuditSchema, config: { ...config, isLongRead: true } },
    async ({ query }) => await useCases.readAudit(query),
  )
  done()
}
