import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { WebhookDelivery } from '../../ports/webhookOutbox.js'
import type { DeliveryView } from '../../protocol/webhooks.js'
import { readPage } from '../readPage.js'
import type { WebhookUseCases } from '../useCases.js'
import { isDelivered } from './deliverWebhooks.js'
import { getEndpoint, type WebhookDependencies } from './endpoint.js'

/** Newest first. Another account's cursor gives an empty page. */
export const createListDeliveries =
  ({ outbox }: Pick<WebhookDependencies, 'outbox'>): WebhookUseCases['listDeliveries'] =>
  async (account, { limit, cursor, status }) => {
    const { items, next } = await readPage(
      limit,
      (count) => outbox.list(account.id, { limit: count, before: cursor, state: status }),
      ({ id }) => id,
    )
    return { deliveries: items.map(viewDelivery), ...next }
  }

const redeliveriesPerMinute = 60
const minuteMs = 60_000

export interface RedeliverDependencies extends Pick<WebhookDependencies, 'outbox' | 'clock'> {
  readonly limiter: Pick<RateLimiter, 'take'>
}

export const createRedeliver =
  ({ outbox, clock, limiter }: RedeliverDependencies): WebhookUseCases['redeliver'] =>
  async (account, deliveryId, recordBefore) => {
    await getEndpoint(outbox, account)
    const { isAllowed, windows } = await limiter.take([
      { key: `redeliver:${account.customer}`, limit: redeliveriesPerMinute, windowMs: minuteMs },
    ])
    if (!isAllowed) {
      const resetsAt = windows[0]?.resetsAt ?? clock.now()
      throw new AppError('RATE_LIMITED', `At most ${redeliveriesPerMinute} redeliveries a minute`, {
        retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / 1_000)),
      })
    }
    await recordBefore?.()
    const delivery = await outbox.redeliver(account.id, deliveryId)
    if (delivery === null) throw new AppError('NOT_FOUND', 'Delivery not found')
    return viewDelivery(delivery)
  }

const viewDelivery = (delivery: WebhookDelivery): DeliveryView => ({
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

/** Sends `webhook.test` synchronously; not stored, not retried. */
export const createTestWebhook =
  ({
    outbox,
    sendWebhook,
    clock,
  }: Pick<WebhookDependencies, 'outbox' | 'sendWebhook' | 'clock'>): WebhookUseCases['testWebhook'] =>
  async (account) => {
    const endpoint = await getEndpoint(outbox, account)
    const event = {
      id: randomUUID(),
      type: 'webhook.test',
      createdAt: clock.now(),
      data: { message: 'This is a test. Settlement events have the same format.' },
    }
    const { status, error } = await sendWebhook(event, endpoint, new AbortController().signal)
    const isSuccess = isDelivered(status)
    return {
      success: isSuccess,
      statusCode: status ?? 0,
      message: isSuccess ? 'The receiver accepted the message' : (error ?? `The receiver answered ${status}`),
    }
  }
