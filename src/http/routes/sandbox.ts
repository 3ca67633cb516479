import fastifyPlugin from 'fastify-plugin'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { SandboxUseCases } from '../../usecases/useCases.js'
import { readHolders } from '../auth/caller.js'
import { forbidCaching } from '../reply.js'
import {
  advanceClockSchema,
  createInboxSchema,
  createScenarioSchema,
  getScenarioSchema,
  readInboxSchema,
  sandboxAddressesSchema,
  sandboxPaymentSchema,
} from '../schemas/sandbox.js'

/** Served by the sandbox only. */
export const sandboxRoutes: FastifyPluginCallbackZod<{ readonly useCases: SandboxUseCases }> = (
  app,
  { useCases },
  done,
) => {
  const config = { access: 'public' } as const
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  app.get('/sandbox/addresses', { schema: sandboxAddressesSchema, config }, async () =>
    useCases.listAddresses(),
  )

  app.get('/sandbox/payments/:payer', { schema: sandboxPaymentSchema, config }, async ({ params, query }) =>
    useCases.createPayment({ payer: params.payer, network: query.network ?? 'eip155:84532' }),
  )

  app.post('/sandbox/scenarios', { schema: createScenarioSchema, config }, async (request, reply) =>
    reply.code(201).send(await useCases.createScenario(request.body, readHolders(request))),
  )

  app.get('/sandbox/scenarios/:id', { schema: getScenarioSchema, config }, async ({ params }) =>
    useCases.getScenario(params.id),
  )

  app.post('/sandbox/clock/advance', { schema: advanceClockSchema, config }, async ({ body }) =>
    useCases.advanceClock(body),
  )

  app.post('/sandbox/inbox', { schema: createInboxSchema, config }, async ({ body }, reply) =>
    reply.code(201).send(await useCases.createInbox(body)),
  )

  app.get('/sandbox/inbox/:id', { schema: readInboxSchema, config }, async ({ params }) =>
    useCases.readInbox(params.id),
  )
  done()
}

/** Every answer of a sandbox says so: the header `X-Sandbox`, and `sandbox: true` in JSON objects, errors included. */
export const sandboxMark = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('onSend', async (request, reply, payload) => {
      reply.header('x-sandbox', 'true')
      // The OpenAPI document has no place for it.
      if (request.url.startsWith('/api/')) return payload
      return isJson(reply.getHeader('content-type')) && typeof payload === 'string' ? mark(payload) : payload
    })
    done()
  },
  { name: 'sandboxMark' },
)

const isJson = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/json')

const mark = (json: string): string => {
  if (!json.startsWith('{')) return json
  return json === '{}' ? '{"sandbox":true}' : `{"sandbox":true,${json.slice(1)}`
}
