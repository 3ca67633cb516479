import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { DashboardUseCases } from '../../usecases/dashboard.js'
import { forbidCaching } from '../forbidCaching.js'
import { keyCountSchema, lookupSchema, registerSchema } from '../schemas/accounts.js'

/** The endpoints of API keys for those who have none at hand. */
export const accountRoutes: FastifyPluginCallbackZod<{ readonly useCases: DashboardUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  app.post('/register', { schema: registerSchema, config: { access: 'public' } }, async ({ body }, reply) => {
    const registered = await useCases.register(body)
    return await reply.code(registered.isNew ? 201 : 200).send(registered)
  })

  app.post(
    '/lookup',
    { schema: lookupSchema, config: { access: 'public' } },
    async ({ body }) => await useCases.lookUp(body.email),
  )

  app.get('/stats/keys', { schema: keyCountSchema, config: { access: 'public' } }, async () => ({
    totalKeys: await useCases.countKeys(),
  }))
  done()
}
