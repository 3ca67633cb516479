import type { Account, Actor } from '../../ports/accountStore.js'
import type { WebhookDelivery } from '../../ports/webhookOutbox.js'
import type {
  DeliveryPage,
  DeliveryView,
  EventPage,
  WebhookRotated,
  WebhookSet,
  WebhookTested,
} from '../../protocol/webhooks.js'

interface EventsQuery {
  /** A position, or `latest`. */
  readonly cursor: string
  readonly limit: number
  readonly waitSeconds: number
}

interface DeliveriesQuery {
  readonly limit: number
  readonly status?: WebhookDelivery['state'] | undefined
  readonly cursor?: string | undefined
}

interface EventsWaiter {
  /** The address of the client, its site and its account: each may have an eighth of the free places. */
  readonly holders: readonly string[]
  readonly abandoned: AbortSignal
}

/** All of them are limited to the given account. */
export interface WebhookUseCases {
  /** The same URL keeps its secret. An empty URL removes the webhook. Throws INVALID_REQUEST for a URL that can never be used. */
  setWebhook(account: Account, url: string, by?: Actor): Promise<WebhookSet>
  testWebhook(account: Account): Promise<WebhookTested>
  rotateSecret(account: Account, by?: Actor): Promise<WebhookRotated>
  listDeliveries(account: Account, query: DeliveriesQuery): Promise<DeliveryPage>
  /** Throws INVALID_REQUEST for an unknown cursor, RATE_LIMITED if too many requests of the account or a holder wait. */
  readEvents(
    account: Pick<Account, 'id' | 'customer'>,
    query: EventsQuery,
    waiter: EventsWaiter,
  ): Promise<EventPage>
  /** Throws NOT_FOUND, or INVALID_REQUEST if no webhook is set. */
  redeliver(account: Account, deliveryId: string): Promise<DeliveryView>
}
