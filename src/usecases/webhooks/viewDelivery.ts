import type { WebhookDelivery } from '../../ports/webhookOutbox.js'
import type { DeliveryView } from '../../protocol/webhooks.js'

export const viewDelivery = (delivery: WebhookDelivery): DeliveryView => ({
  id: delivery.id,
  type: delivery.type,
  status: delivery.state,
  attempts: delivery.attempts,
  createdAt: delivery.createdAt.toISOString(),
  ...(delivery.dueAt === null ? {} : { nextAttemptAt: delivery.dueAt.toISOString() }),
  ...(delivery.lastAttemptAt === null ? {} : { lastAttemptAt: delivery.lastAttemptAt.toISOString() }),
  ...(delivery.lastStatus === null ? {} : { lastStatusCode: delivery.lastStatus }),
  ...(delivery.lastError === null ? {} : { lastError: delivery.lastError }),
  data: delivery.data,
})
