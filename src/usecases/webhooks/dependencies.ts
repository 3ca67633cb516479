import { AppError } from '../../errors.js'
import type { Account } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Sealer } from '../../ports/sealer.js'
import type { WebhookEndpoint, WebhookOutbox } from '../../ports/webhookOutbox.js'
import type { WebhookTransport } from '../../ports/webhookTransport.js'
import type { SendWebhook } from './sendWebhook.js'

/** What the verbs of the dashboard need. */
export interface WebhookDependencies {
  readonly outbox: WebhookOutbox
  readonly transport: WebhookTransport
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly sendWebhook: SendWebhook
  readonly clock: Clock
}

/** What is answered where no webhook is set. */
export const noWebhook = (): AppError =>
  new AppError('INVALID_REQUEST', 'No webhook is set: POST /dashboard/webhook sets one')

/** The account's webhook; throws INVALID_REQUEST where none is set. */
export const getEndpoint = async (outbox: WebhookOutbox, account: Account): Promise<WebhookEndpoint> => {
  const endpoint = await outbox.findEndpoint(account.id)
  if (endpoint === null) throw noWebhook()
  return endpoint
}
