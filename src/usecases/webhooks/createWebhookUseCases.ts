import { createListDeliveries } from './listDeliveries.js'
import { createRedeliver } from './redeliver.js'
import { createRotateSecret } from './rotateSecret.js'
import { createSetWebhook } from './setWebhook.js'
import { createTestWebhook } from './testWebhook.js'
import type { WebhookParts } from './webhookParts.js'
import type { WebhookUseCases } from './webhookUseCases.js'

/** Builds the verbs of the noun `webhooks`. */
export const createWebhookUseCases = (parts: WebhookParts): WebhookUseCases => ({
  setWebhook: createSetWebhook(parts),
  testWebhook: createTestWebhook(parts),
  rotateSecret: createRotateSecret(parts),
  listDeliveries: createListDeliveries(parts),
  redeliver: createRedeliver(parts),
})
