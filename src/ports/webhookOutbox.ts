import type { JsonObject } from '../protocol/fields.js'

export interface WebhookEndpoint {
  readonly accountId: string
  readonly url: string
  /** Encrypted, newest first; after a rotation the previous one stays valid for a while. */
  readonly sealedSecrets: readonly Uint8Array[]
  /** The receiver answered 410: no new events until the webhook is set again. */
  readonly isGone: boolean
}

export interface WebhookDelivery {
  /** Also the event id; identical for every attempt, so that receivers can deduplicate. */
  readonly id: string
  readonly accountId: string
  readonly type: string
  /** `data` of the body: a snapshot taken when the event happened. */
  readonly data: unknown
  readonly createdAt: Date
  /** `stored`: there was no active webhook; only in the feed. */
  readonly state: 'waiting' | 'delivered' | 'failed' | 'stored'
  /** Finished attempts since the event was written or last redelivered. */
  readonly attempts: number
  /** When the next attempt is due, or the lease of the current one expires; null if neither. */
  readonly dueAt: Date | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly lastAttemptAt: Date | null
}

interface OutboxEvent {
  readonly accountId: string
  /** `<noun>.<event>`, as in `settlement.confirmed`. */
  readonly type: string
  readonly data: JsonObject
  readonly settlementId?: string
}

export interface LeasedDelivery extends WebhookDelivery {
  /** Fencing token of this attempt: `finish` has no effect once another instance took the lease. */
  readonly lease: string
  readonly endpoint: WebhookEndpoint
}

export interface LeaseRequest {
  readonly limit: number
  readonly limitPerAccount: number
  /** Accounts to skip: their earlier deliveries are still in flight, or they are leased apart. */
  readonly except: readonly string[]
  /** Leases only from these accounts. Default: from all. */
  readonly only?: readonly string[]
  readonly leaseMs: number
  /** Account id; the accounts take turns from the next one on. Default: from the first. */
  readonly after?: string
}

export type AttemptOutcome =
  | { readonly state: 'delivered'; readonly status: number; readonly error: null }
  | {
      readonly state: 'failed'
      readonly status: number | null
      readonly error: string | null
      /** The receiver answered 410: its other waiting deliveries fail too. */
      readonly isGone: boolean
    }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly error: string | null
      readonly retryInMs: number
    }

/**
 * Transactional outbox. State changes write their event in the same database transaction, with the statement
 * behind `enqueue`. Each delivery is leased by one instance at a time; leases of dead instances expire.
 */
export interface WebhookOutbox {
  /** For the feed only if the account has no active webhook; no-op for `anonymous`. */
  enqueue(event: OutboxEvent): Promise<void>
  findEndpoint(accountId: string): Promise<WebhookEndpoint | null>
  /** Sets URL and a new secret; null removes both and all waiting deliveries. */
  setEndpoint(
    accountId: string,
    endpoint: { readonly url: string; readonly sealedSecret: Uint8Array } | null,
  ): Promise<void>
  /** Adds a new secret; the old one stays valid for `overlapMs`. Returns false if the account has no endpoint. */
  rotateSecret(accountId: string, sealedSecret: Uint8Array, overlapMs: number): Promise<boolean>
  /** Leases due deliveries for `leaseMs`: the oldest of each account, before the second of any. */
  leaseDue(request: LeaseRequest): Promise<readonly LeasedDelivery[]>
  /** Stores the outcome of an attempt; no-op if the lease was lost. */
  finish(taken: LeasedDelivery, outcome: AttemptOutcome): Promise<void>
  /** Releases the lease of an unfinished attempt; the delivery is due at once. */
  returnToQueue(taken: LeasedDelivery): Promise<void>
  /** Newest first, without what was never due; `before` is the last id of the previous page. */
  list(
    accountId: string,
    page: {
      readonly limit: number
      readonly before?: string | undefined
      readonly state?: WebhookDelivery['state'] | undefined
    },
  ): Promise<readonly WebhookDelivery[]>
  /** Makes the delivery due now and resets its attempts; null if the account has no such delivery. */
  redeliver(accountId: string, deliveryId: string): Promise<WebhookDelivery | null>
  /** Deletes ended deliveries older than the retention, in batches until the signal aborts. */
  purge(stopped?: AbortSignal): Promise<void>
}

export interface FeedEvent extends Pick<WebhookDelivery, 'id' | 'type' | 'data' | 'createdAt'> {
  /** Grows by commit order within the account, with gaps; the same on every read. */
  readonly position: bigint
}

/**
 * The events of an account, also of one without a webhook, until they are purged. An event is never inserted before a
 * position that was already read.
 */
export interface EventFeed {
  /** Oldest first, of one settlement or of all. Null if `after` is beyond the last position, as after a database was restored. */
  read(
    accountId: string,
    page: { readonly after: bigint; readonly limit: number; readonly settlementId?: string | undefined },
  ): Promise<readonly FeedEvent[] | null>
  /** Skips a bounded number of events; `isEnd` is false while more remain. */
  skip(accountId: string): Promise<{ readonly position: bigint; readonly isEnd: boolean }>
}

export interface WebhookMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** `error`: why there was no response, in words that the webhook's owner may read. */
export type WebhookResponse =
  | { readonly status: number; readonly error: null }
  | { readonly status: null; readonly error: string }

/** Posts to user-supplied URLs; connects to public addresses only (SSRF protection). */
export interface WebhookTransport {
  /** Why the URL can never be used, as the end of a sentence; null if its host may be contacted. */
  findUrlProblem(url: string): string | null
  /** Failures of the receiver are returned; throws only the abort reason of `stopped`. */
  post(message: WebhookMessage, stopped: AbortSignal): Promise<WebhookResponse>
}

export interface WebhookCounter {
  /** `waiting`: failed, retry scheduled; `failed`: no more retries. */
  countWebhook(outcome: AttemptOutcome['state']): void
}
