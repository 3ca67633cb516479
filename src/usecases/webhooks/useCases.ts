import type { Account } from '../../ports/accountStore.js'
import type {
  DeliveryPage,
  DeliveryView,
  WebhookRotated,
  WebhookSet,
  WebhookTested,
} from '../../protocol/webhooks.js'

/** Which page of an account's deliveries. */
export interface DeliveriesQuestion {
  readonly limit: number
  /** What an earlier page named in `nextCursor`. */
  readonly cursor?: string | undefined
}

/** The verbs of the noun `webhooks`; each concerns the account that it is given and no other. */
export interface WebhookUseCases {
  /** An empty URL removes the webhook. Throws INVALID_REQUEST for one that nothing would be sent to. */
  setWebhook(account: Account, url: string): Promise<WebhookSet>
  /** Throws INVALID_REQUEST where no webhook is set. */
  testWebhook(account: Account): Promise<WebhookTested>
  /** Throws INVALID_REQUEST where no webhook is set. */
  rotateSecret(account: Account): Promise<WebhookRotated>
  listDeliveries(account: Account, question: DeliveriesQuestion): Promise<DeliveryPage>
  /** Throws NOT_FOUND, and INVALID_REQUEST where no webhook is set. */
  redeliver(account: Account, deliveryId: string): Promise<DeliveryView>
}
