import type { WebhookDependencies } from './dependencies.js'
import { createListDeliveries } from './listDeliveries.js'
import { createRedeliver } from './redeliver.js'
import { createRotateSecret } from './rotateSecret.js'
import { createSetWebhook } from './setWebhook.js'
import { createTestWebhook } from './testWebhook.js'
import type { WebhookUseCases } from './webhookUseCases.js'

/** Builds the verbs of the noun `webhooks`. */
export const createWebhookUseCases = (dependencies: WebhookDependencies): WebhookUseCases => ({
  setWebhook: createSetWebhook(dependencies),
  testWebhook: createTestWebhook(dependencies),
  rotateSecret: createRotateSecret(dependencies),
  listDeliveries: createListDeliveries(dependencies),
  redeliver: createRedeliver(dependencies),
})
