/** Where an account wants its events, and what they are signed with. */
export interface WebhookEndpoint {
  readonly accountId: string
  readonly url: string
  /** Secrets that sign, encrypted, the newest first: the one before it goes on for a while after a rotation. */
  readonly sealedSecrets: readonly Uint8Array[]
}

/** An event that is to be delivered, or was. */
export interface WebhookDelivery {
  readonly id: string
  readonly accountId: string
  /** The event's id, the same for every attempt and redelivery: receivers recognise repetitions by it. */
  readonly eventId: string
  readonly type: string
  /** The body's `data`. */
  readonly data: unknown
  readonly createdAt: Date
  readonly state: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  /** When the next attempt is due; null when there is none. */
  readonly dueAt: Date | null
  /** Of the last attempt: the answer's status, or why there was no answer. */
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly lastAttemptAt: Date | null
}

/** What came of one attempt. */
export interface DeliveryAttempt {
  readonly state: WebhookDelivery['state']
  readonly dueAt: Date | null
  readonly status: number | null
  readonly error: string | null
}

/**
 * Events on their way to webhooks. Rows are written in the transaction that changes what they tell of; several
 * instances take each delivery once between them, and what a dead one had taken comes back.
 */
export interface WebhookOutbox {
  findEndpoint(accountId: string): Promise<WebhookEndpoint | null>
  /** Sets the address and a new secret, or removes both with null. */
  setEndpoint(
    accountId: string,
    endpoint: { readonly url: string; readonly sealedSecret: Uint8Array } | null,
  ): Promise<void>
  /** A new secret; the old one signs beside it until then. */
  rotateSecret(accountId: string, sealedSecret: Uint8Array, overlapUntil: Date): Promise<boolean>
  /** Takes what is due for as long as the lease; the same row is nobody else's until then. */
  takeDue(limit: number, leaseMs: number): Promise<readonly WebhookDelivery[]>
  finish(deliveryId: string, attempt: DeliveryAttempt): Promise<void>
  /** Newest first; `before` is the id of the last one of the page before. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<readonly WebhookDelivery[]>
  /** Makes it due now; null when the account has no such delivery. */
  redeliver(accountId: string, deliveryId: string): Promise<WebhookDelivery | null>
}
