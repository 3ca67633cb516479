import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { DashboardUseCases } from '../../usecases/dashboard/useCases.js'
import type { ReadKeyViewer } from '../auth/keyViewer.js'
import { forbidCaching } from '../forbidCaching.js'
import { keyCountSchema, lookupSchema, registerSchema } from '../schemas/accounts.js'

export interface KeyRoutesDependencies {
  readonly useCases: DashboardUseCases
  readonly readKeyViewer: ReadKeyViewer
}

export const accountRoutes: FastifyPluginCallbackZod<KeyRoutesDependencies> = (
  app,
  { useCases, readKeyViewer },
  done,
) => {
  const config = { access: 'public', requiresOperator: () => false } as const
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  app.post(
    '/register',
    {
      schema: registerSchema,
      config,
      preHandler: async ({ body }) => useCases.checkRegistration(body),
    },
    async (request, reply) => {
      const client = { address: request.ip, network: readClientNetwork(request.ip) }
      const registered = await useCases.register(request.body, readKeyViewer(request), client)
      return await reply.code(registered.isNew ? 201 : 200).send(registered)
    },
  )

  app.post(
    '/lookup',
    { schema: lookupSchema, config, preHandler: async ({ body }) => useCases.checkRegistration(body) },
    async (request) => await useCases.lookUp(request.body.email, readKeyViewer(request)),
  )

  app.get('/stats/keys', { schema: keyCountSchema, config: { access: 'public' } }, async () => ({
    totalKeys: await useCases.countKeys(),
  }))
  done()
}
