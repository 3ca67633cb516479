import type { JsonObject } from '../protocol/jsonObject.js'

/** Where an account wants its events, and what they are signed with. */
export interface WebhookEndpoint {
  readonly accountId: string
  readonly url: string
  /** Secrets that sign, encrypted, the newest first: the one before it goes on for a while after a rotation. */
  readonly sealedSecrets: readonly Uint8Array[]
  /** It answered 410: it gets no new events until it is set again. */
  readonly isGone: boolean
}

/** An event that is to be delivered, or was. */
export interface WebhookDelivery {
  /** The event's id as well, the same for every attempt: receivers recognise repetitions by it. */
  readonly id: string
  readonly accountId: string
  readonly type: string
  /** The body's `data`, as it stood when the event happened. */
  readonly data: unknown
  readonly createdAt: Date
  readonly state: 'waiting' | 'delivered' | 'failed'
  /** Attempts that have ended since it was written or last asked for again. */
  readonly attempts: number
  /** When the next attempt is due, or the one under way counts as dead; null when there is none. */
  readonly dueAt: Date | null
  /** Of the last attempt: the answer's status, or why there was no answer. */
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly lastAttemptAt: Date | null
}

/** Something that happened, to be delivered to an account's webhook. */
export interface OutboxEvent {
  readonly accountId: string
  /** Noun and what happened, as in `settlement.confirmed`. */
  readonly type: string
  /** The body's `data`. */
  readonly data: JsonObject
  readonly settlementId?: string
}

/** A delivery that is ours to attempt, and where to. */
export interface LeasedDelivery extends WebhookDelivery {
  /** Names our attempt: what another took since is not ours to finish. */
  readonly lease: string
  readonly endpoint: WebhookEndpoint
}

/** How much may be taken. */
export interface TakeRequest {
  readonly limit: number
  readonly limitPerAccount: number
  /** Accounts whose receivers are busy with what we took before. */
  readonly except: readonly string[]
  readonly leaseMs: number
}

/** What came of one attempt. */
export type AttemptOutcome =
  | { readonly state: 'delivered'; readonly status: number; readonly error: null }
  | {
      readonly state: 'failed'
      readonly status: number | null
      readonly error: string | null
      /** The receiver wants nothing any more: neither this nor what else waits for it. */
      readonly isGone: boolean
    }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly error: string | null
      readonly retryInMs: number
    }

/**
 * Events on their way to webhooks. A store that changes state writes its event in the same database transaction, by the
 * statement behind `enqueue`. Several instances take each delivery once between them; the lease of a dead one ends.
 */
export interface WebhookOutbox {
  /** Writes an event of any noun, where the account has a webhook that takes events; else nothing. */
  enqueue(event: OutboxEvent): Promise<void>
  findEndpoint(accountId: string): Promise<WebhookEndpoint | null>
  /** Sets the address and a new secret, or removes both with null, and with them whatever waits. */
  setEndpoint(
    accountId: string,
    endpoint: { readonly url: string; readonly sealedSecret: Uint8Array } | null,
  ): Promise<void>
  /** A new secret; the old one signs beside it for a while. False when the account has no endpoint. */
  rotateSecret(accountId: string, sealedSecret: Uint8Array, overlapMs: number): Promise<boolean>
  /** Takes what is due for as long as the lease; until then it is nobody else's. The oldest of each account first. */
  takeDue(request: TakeRequest): Promise<readonly LeasedDelivery[]>
  /** Writes down what came of an attempt, unless its lease was lost to another. */
  finish(taken: LeasedDelivery, outcome: AttemptOutcome): Promise<void>
  /** Gives back what was taken and not attempted to its end: due at once. */
  returnToQueue(taken: LeasedDelivery): Promise<void>
  /** Newest first; `before` is the id of the last one of the page before. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<readonly WebhookDelivery[]>
  /** Makes it due now with all its attempts before it; null when the account has no such delivery. */
  redeliver(accountId: string, deliveryId: string): Promise<WebhookDelivery | null>
  /** Removes what ended longer ago than deliveries are kept. */
  purge(): Promise<void>
}
