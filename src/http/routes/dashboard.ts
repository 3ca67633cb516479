import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { getKeyOwner, readActor } from '../auth/keyOwner.js'
import { forbidCaching } from '../forbidCaching.js'
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
import type { KeyRoutesDependencies } from './accounts.js'

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
    async (request) => await useCases.readUsage(getKeyOwner(request).account),
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
