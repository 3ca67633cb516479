import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { DashboardUseCases } from '../../usecases/dashboard/useCases.js'
import { getKeyOwner, readActor } from '../auth/caller.js'
import type { ReadKeyViewer } from '../auth/operatorGate.js'
import { forbidCaching } from '../reply.js'
import { keyCountSchema, lookupSchema, registerSchema } from '../schemas/accounts.js'
import {
  createApiKeySchema,
  listApiKeysSchema,
  readAuditSchema,
  revokeApiKeySchema,
} from '../schemas/apiKeys.js'
import {
  accountSettlementsSchema,
  infoSchema,
  keysSchema,
  restrictionsSchema,
  rotateSchema,
  usageSchema,
} from '../schemas/dashboard.js'

interface KeyRoutesDependencies {
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

export const dashboardRoutes: FastifyPluginCallbackZod<KeyRoutesDependencies> = (
  app,
  { useCases, readKeyViewer },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  app.get(
    '/dashboard/info',
    { schema: infoSchema, config: { access: 'dashboard' } },
    async (request) => await useCases.readInfo(getKeyOwner(request).account),
  )

  app.get(
    '/dashboard/keys',
    // With the operator's token as bearer, the key is in X-API-Key.
    { schema: keysSchema, config: { access: 'dashboard', requiresOperator: () => false } },
    async (request) => await useCases.listKeys(getKeyOwner(request).account, readKeyViewer(request)),
  )

  app.get(
    '/dashboard/usage',
    { schema: usageSchema, config: { access: 'dashboard', isLongRead: true } },
    async (request) => await useCases.readUsage(getKeyOwner(request).account, request.query),
  )

  app.get(
    '/dashboard/settlements',
    { schema: accountSettlementsSchema, config: { access: 'dashboard', isLongRead: true } },
    async (request) => await useCases.listSettlements(getKeyOwner(request).account, request.query),
  )

  app.post(
    '/dashboard/rotate',
    { schema: rotateSchema, config: { access: 'dashboard' } },
    async (request) => {
      const { account, apiKey } = getKeyOwner(request)
      const { graceSeconds } = request.query
      return await useCases.rotateKey(account, apiKey.reveal(), { graceSeconds, by: readActor(request) })
    },
  )

  app.post(
    '/dashboard/restrictions',
    { schema: restrictionsSchema, config: { access: 'dashboard' } },
    async (request) =>
      await useCases.restrict(getKeyOwner(request).account, request.body, readActor(request)),
  )

  app.get(
    '/dashboard/api-keys',
    { schema: listApiKeysSchema, config: { access: 'dashboard' } },
    async (request) => await useCases.listApiKeys(getKeyOwner(request).account),
  )

  app.post(
    '/dashboard/api-keys',
    { schema: createApiKeySchema, config: { access: 'dashboard' } },
    async (request, reply) => {
      const { name, scopes, expiresAt } = request.body
      const created = await useCases.createApiKey(
        getKeyOwner(request).account,
        { name, scopes, expiresAt: expiresAt === undefined ? null : new Date(expiresAt) },
        readActor(request),
      )
      return await reply.code(201).send(created)
    },
  )

  app.delete(
    '/dashboard/api-keys/:id',
    { schema: revokeApiKeySchema, config: { access: 'dashboard' } },
    async (request) =>
      await useCases.revokeApiKey(getKeyOwner(request).account, request.params.id, readActor(request)),
  )

  app.get(
    '/dashboard/audit',
    { schema: readAuditSchema, config: { access: 'dashboard', isLongRead: true } },
    async (request) => await useCases.readAudit(getKeyOwner(request).account, request.query),
  )
  done()
}
