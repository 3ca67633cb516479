import { randomUUID } from 'node:crypto'
import { isDelivered } from './decideAttempt.js'
import { getEndpoint, type WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'

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
