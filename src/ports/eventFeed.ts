import type { WebhookDelivery } from './webhookOutbox.js'

export interface FeedEvent extends Pick<WebhookDelivery, 'id' | 'type' | 'data' | 'createdAt'> {
  /** Grows by commit order within the account, with gaps; the same on every read. */
  readonly position: bigint
}

/**
 * The events of an account, also of one without a webhook, until they are purged. An event is never inserted before a
 * position that was already read.
 */
export interface EventFeed {
  /** Oldest first. Null if `after` is beyond the last position, as after a database was restored. */
  read(
    accountId: string,
    page: { readonly after: bigint; readonly limit: number },
  ): Promise<readonly FeedEvent[] | null>
  /** Skips a bounded number of events; `isEnd` is false while more remain. */
  skip(accountId: string): Promise<{ readonly position: bigint; readonly isEnd: boolean }>
}
