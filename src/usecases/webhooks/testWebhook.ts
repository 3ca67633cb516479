import { randomUUID } from 'node:crypto'
import { isDelivered } from './decideAttempt.js'
import { getEndpoint, type WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'

/** Sends `webhook.test` at once, and tells what the receiver answered; it is not tried again. */
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
      data: { message: 'This is a test. Events of settlements look like it.' },
    }
    const { status, error } = await sendWebhook(event, endpoint, new AbortController().signal)
    const isSuccess = isDelivered(status)
    return {
      success: isSuccess,
      statusCode: status ?? 0,
      message: isSuccess ? 'The receiver took the message' : (error ?? `The receiver answered ${status}`),
    }
  }
