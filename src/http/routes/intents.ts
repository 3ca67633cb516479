import type { FastifyRequest } from 'fastify'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { intentLimits } from '../../protocol/intents.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { IntentUseCases } from '../../usecases/intents/useCases.js'
import { readQuotaClaim, readRequester } from '../auth/caller.js'
import { readIdempotencyKey, rejectMalformedKey } from '../idempotencyKey.js'
import { forbidCaching } from '../reply.js'
import {
  cancelIntentSchema,
  createIntentSchema,
  executeIntentSchema,
  getIntentSchema,
  listIntentsSchema,
  refreshIntentSchema,
  selectRouteSchema,
} from '../schemas/intents.js'

interface IntentRoutesDependencies {
  readonly useCases: IntentUseCases
  readonly tiers: Tiers
  /** It bounds payment payloads. */
  readonly maxBodyBytes: number
}

export const intentRoutes: FastifyPluginCallbackZod<IntentRoutesDependencies> = (
  app,
  { useCases, tiers, maxBodyBytes },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  const reads = { access: 'key', scope: 'read' } as const
  const changes = { access: 'key', scope: 'settle' } as const

  app.post(
    '/v1/intent',
    { schema: createIntentSchema, config: changes, onRequest: rejectMalformedKey },
    async (request, reply) => {
      const { body, caller } = request
      const idempotencyKey = readIdempotencyKey(request)
      const { answer, isReplayed } = await useCases.createIntent({ terms: body, caller, idempotencyKey })
      if (isReplayed) reply.header('x-idempotency-replayed', 'true')
      return await reply.code(201).send(answer)
    },
  )

  app.get(
    '/v1/intent',
    { schema: listIntentsSchema, config: { access: 'dashboard', scope: 'read' } },
    async ({ query, caller }) => await useCases.listIntents({ ...query, caller }),
  )

  app.get(
    '/v1/intent/:id',
    { schema: getIntentSchema, config: reads },
    async ({ params, caller }) => await useCases.getIntent({ ...params, caller }),
  )

  app.post(
    '/v1/intent/:id/route',
    { schema: selectRouteSchema, config: changes },
    async ({ params, body, caller }) => await useCases.selectRoute({ ...params, ...body, caller }),
  )

  app.post(
    '/v1/intent/:id/execute',
    { schema: executeIntentSchema, config: changes, bodyLimit: maxBodyBytes },
    async (request) => {
      const { params, body, caller } = request
      return await useCases.executeIntent({
        ...params,
        ...body,
        caller,
        requester: readRequester(request),
        quota: readQuotaClaim(request, tiers),
      })
    },
  )

  app.post(
    '/v1/intent/:id/cancel',
    { schema: cancelIntentSchema, config: changes },
    async (request) =>
      await useCases.cancelIntent({ ...request.params, caller: request.caller, token: readToken(request) }),
  )

  app.post(
    '/v1/intent/:id/refresh',
    { schema: refreshIntentSchema, config: changes },
    async ({ params, caller }) => await useCases.refreshIntent({ ...params, caller }),
  )
  done()
}

const readToken = ({ headers }: FastifyRequest): string | null => {
  const token = headers['x-intent-token']
  return typeof token === 'string' && token.length <= intentLimits.token ? token : null
}
