import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { WebhookUseCases } from '../../usecases/useCases.js'
import { getKeyOwner, readActor, readHolders } from '../auth/caller.js'
import { createAbandonment, forbidCaching } from '../reply.js'
import {
  listDeliveriesSchema,
  listEventsSchema,
  redeliverSchema,
  rotateWebhookSecretSchema,
  setWebhookSchema,
  testWebhookSchema,
} from '../schemas/webhooks.js'

export const webhookRoutes: FastifyPluginCallbackZod<{ readonly useCases: WebhookUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  const config = { access: 'dashboard' } as const

  app.post('/dashboard/webhook', { schema: setWebhookSchema, config }, async (request) =>
    useCases.setWebhook(getKeyOwner(request).account, request.body.webhookUrl, readActor(request)),
  )

  app.post('/dashboard/webhook/test', { schema: testWebhookSchema, config }, async (request) =>
    useCases.testWebhook(getKeyOwner(request).account),
  )

  app.post('/dashboard/webhook/rotate', { schema: rotateWebhookSecretSchema, config }, async (request) =>
    useCases.rotateSecret(getKeyOwner(request).account, readActor(request)),
  )

  app.get(
    '/dashboard/webhook/deliveries',
    { schema: listDeliveriesSchema, config: { ...config, isLongRead: true } },
    async (request) => useCases.listDeliveries(getKeyOwner(request).account, request.query),
  )

  app.post(
    '/dashboard/webhook/deliveries/:id/redeliver',
    { schema: redeliverSchema, config },
    async (request) => useCases.redeliver(getKeyOwner(request).account, request.params.id),
  )

  const waiting = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const controller of waiting) controller.abort()
  })
  app.get(
    '/v1/events',
    { schema: listEventsSchema, config: { ...config, scope: 'read' } },
    async (request, reply) => {
      const { cursor, limit, wait, settlementId } = request.query
      const controller = createAbandonment(reply)
      waiting.add(controller)
      try {
        const query = { cursor, limit, waitSeconds: wait, settlementId }
        const waiter = { holders: readHolders(request), abandoned: controller.signal }
        return await useCases.readEvents(getKeyOwner(request).account, query, waiter)
      } finally {
        waiting.delete(controller)
      }
    },
  )
  done()
}
