import type { FastifyRequest, FastifySchema } from 'fastify'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { bodyLimits } from '../../protocol/requestLimits.js'
import type { DiscoveryUseCases, OwnerClaim, OwnerSignature } from '../../usecases/discovery/useCases.js'
import { readRequester } from '../auth/caller.js'
import { createAbandonment } from '../reply.js'
import {
  getResourceSchema,
  listResourcesSchema,
  relistResourceSchema,
  searchResourcesSchema,
  unlistResourceSchema,
  validateDeclarationSchema,
} from '../schemas/discovery.js'

export const discoveryRoutes: FastifyPluginCallbackZod<{ readonly useCases: DiscoveryUseCases }> = (
  app,
  { useCases },
  done,
) => {
  const config = { access: 'public' } as const
  const longRead = { ...config, isLongRead: true } as const
  // A key, where one is sent, must be allowed to manage.
  const changes = { ...config, scope: 'manage' } as const

  // `/discovery` is x402's and t402's older path, `/v1/discovery` t402's.
  for (const [prefix, isAlias] of [
    ['/discovery', false],
    ['/v1/discovery', true],
  ] as const) {
    app.get(
      `${prefix}/resources`,
      { schema: hideAlias(listResourcesSchema, isAlias), config: longRead },
      async ({ query }) => await useCases.listResources(query),
    )
    app.get(
      `${prefix}/resources/:id`,
      { schema: hideAlias(getResourceSchema, isAlias), config },
      async ({ params }) => await useCases.getResource(params.id),
    )
    app.delete(
      `${prefix}/resources/:id`,
      { schema: hideAlias(unlistResourceSchema, isAlias), config: changes },
      async (request) =>
        await useCases.changeListing(request.params.id, 'unlist', readClaim(request, request.body)),
    )
    app.post(
      `${prefix}/resources/:id/relist`,
      { schema: hideAlias(relistResourceSchema, isAlias), config: changes },
      async (request) =>
        await useCases.changeListing(request.params.id, 'relist', readClaim(request, request.body)),
    )
    app.get(
      `${prefix}/search`,
      { schema: hideAlias(searchResourcesSchema, isAlias), config: longRead },
      async ({ query }) => await useCases.searchResources(query),
    )
    app.post(
      `${prefix}/validate`,
      {
        schema: hideAlias(validateDeclarationSchema, isAlias),
        config,
        bodyLimit: bodyLimits.declaration,
      },
      async (request, reply) => {
        // The address counts, also with a key: accounts are free.
        const { name, site } = readRequester({ account: null, ip: request.ip })
        return await useCases.validateDeclaration(request.body, {
          owner: site ?? name,
          signal: createAbandonment(reply).signal,
        })
      },
    )
  }
  done()
}

const readClaim = (
  request: Pick<FastifyRequest, 'account' | 'ip'>,
  signature: OwnerSignature | null | undefined,
): OwnerClaim => ({
  accountId: request.account?.id ?? null,
  signature: signature ?? null,
  requester: readRequester(request),
})

/** The OpenAPI document lists each operation once. */
const hideAlias = <Schema extends FastifySchema>(schema: Schema, isAlias: boolean): Schema =>
  isAlias ? { ...schema, hide: true } : schema
