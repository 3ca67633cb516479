import type { JsonObject } from '../protocol/fields.js'
import type { Reason } from '../protocol/reasons.js'
import type { StreamEvent, StreamState, StreamView } from '../protocol/streams.js'

/** A payment channel that pays a stream. */
export interface StreamChannel {
  readonly id: string
  /** What the id is the hash of, as on the wire. */
  readonly config: JsonObject
  /** What the channel had been charged before, in smallest units: the amounts of the stream count from there. */
  readonly baseline: bigint
}

/** Fixed when it was opened. */
interface StreamTerms {
  readonly id: string
  readonly authorizationId: string
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** SHA-256 of the token that controls it, in hex; null for streams of accounts. */
  readonly controlDigest: string | null
  /** SHA-256 of the canonical request that opened it. */
  readonly fingerprint: string
  /** What its settlement is charged to; null: not counted. */
  readonly quota: { readonly customer: string; readonly feeRate: number } | null
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** Amounts are smallest units. */
  readonly maxAmount: bigint
  /** Null: an authorization pays, whose maximum is held. */
  readonly channel: StreamChannel | null
  /** As JSON text: returned, never read. */
  readonly metadata: string | null
  readonly createdAt: Date
  /** When it closes by itself. */
  readonly closesAt: Date
  /** When a close that did not succeed is given up, and the hold on the funds ends. */
  readonly settlesUntil: Date
}

/** What changes. */
export interface StreamProgress {
  readonly state: StreamState
  /** Cumulative. */
  readonly amount: bigint
  readonly sequence: number
  readonly updates: number
  /** The payer's newest signature, over `amount` and `sequence`; of a channel, its signature over `ceiling`. */
  readonly voucher: string | null
  /** The highest that the payer of a channel has signed; cumulative over the life of the channel. Null: no channel. */
  readonly ceiling: bigint | null
  /** Signature of the channel's receiverAuthorizer over the claim of the final amount. Null: not given. */
  readonly claimSignature: string | null
  /** Set from `closing` on. */
  readonly finalAmount: bigint | null
  readonly settlementId: string | null
  readonly transaction: string | null
  readonly settledAmount: bigint | null
  readonly reason: Reason | null
  readonly risk: Reason | null
  readonly updatedAt: Date
  readonly closedAt: Date | null
  /** When the job tries to settle it next; set while `closing`. */
  readonly attendAt: Date | null
  readonly attempts: number
  /** How often in a row `reason` refused the close. */
  readonly refusals: number
  /** When `refusals` grew. */
  readonly refusedAt: Date | null
  /** Settlements of it that were sent and failed. */
  readonly reverts: number
}

export interface Stream extends StreamTerms, StreamProgress {}

/** For the webhook and the feed of the caller; the stream after the change. */
export interface StreamEventRecord {
  readonly type: StreamEvent
  readonly data: StreamView
}

/** Why a command is refused: an error code of HTTP and a sentence. */
export interface StreamRefusal {
  readonly code:
    | 'INVALID_REQUEST'
    | 'NOT_FOUND'
    | 'INVALID_AMOUNT'
    | 'AMOUNT_EXCEEDED'
    | 'INVALID_VOUCHER'
    | 'INVALID_SEQUENCE'
    | 'STREAM_NOT_ACTIVE'
    | 'STREAM_EXPIRED'
  readonly message: string
}

export type StreamDecision =
  | { readonly state: 'changed'; readonly stream: Stream; readonly events: readonly StreamEventRecord[] }
  | { readonly state: 'unchanged'; readonly stream: Stream }
  | { readonly state: 'refused'; readonly refusal: StreamRefusal }

/** Null: there is no such stream. Pure, because it may be called again. */
export type DecideStream = (stream: Stream | null) => StreamDecision

export interface StreamToSettle {
  readonly stream: Stream
  /** The wire body that opened it; null where a channel pays. */
  readonly payment: unknown
}

/**
 * `taken`: an open stream has the authorization. `exhausted`: open streams use up what is left of the month. `crowded`: too
 * many open streams, of all callers or of this one, have to be settled at the same time.
 */
export type OpenedStream = 'opened' | 'taken' | 'exhausted' | 'crowded'

/** Spreads streams that have to be settled at the same time. */
export interface StreamPace {
  /** Counted are open streams of the network that end at most so long before or after it, */
  readonly windowMs: number
  /** and have at most so much time between their close and their end. */
  readonly maxMarginMs: number
  /** Places it beside so many others, `own` of them of its customer; null: there is no room. Called in the transaction that stores it. */
  place(counted: {
    readonly others: number
    readonly own: number
  }): Pick<StreamOpening, 'stream' | 'event'> | null
}

export interface StreamQuota {
  readonly customer: string
  /** At least 0. */
  readonly monthlyQuota: number
}

export interface StreamOpening {
  readonly stream: Stream
  /** The wire body, which its close settles; null where a channel pays. */
  readonly payment: unknown
  readonly event: StreamEventRecord
  /** Null: unlimited. */
  readonly quota: StreamQuota | null
  /** Replaces `stream` and `event`. Absent: its end needs no place among others. */
  readonly pace?: StreamPace
}

export interface StreamStore {
  open(opening: StreamOpening): Promise<OpenedStream>
  /**
   * Decides on the current row, one decision per stream after the other, and writes the change and its events in the
   * same transaction. Resolves once they are durable. `closes` wait for each other only, not for updates.
   */
  change(id: string, decide: DecideStream, queue?: 'updates' | 'closes'): Promise<StreamDecision>
  find(id: string): Promise<Stream | null>
  /** Finds the open stream of an authorization. */
  findOpen(authorizationId: string): Promise<Stream | null>
  /** The highest total of a channel that streams with this name, which were closed and not settled, have used; 0: none has. */
  findOwed(authorizationId: string): Promise<bigint>
  /** The stream with its payment; null unless it is open. */
  findToSettle(id: string): Promise<StreamToSettle | null>
  list(query: StreamQuery): Promise<readonly Stream[]>
  /** Ids of streams that are active or paused beyond their time, oldest first. */
  listDue(now: Date, limit: number): Promise<readonly string[]>
  /** Networks with streams that are closing and to be attended. */
  listClosingNetworks(now: Date): Promise<readonly string[]>
  /** Closing streams to be attended, the most urgent first; no other caller gets them until `leasedUntil`. */
  leaseClosing(lease: ClosingLease): Promise<readonly StreamToSettle[]>
  /**
   * Active and paused streams that were not looked at since `before`, customers in turn; they count as looked at `now`.
   */
  takeToCheck(before: Date, now: Date, limit: number): Promise<readonly StreamToSettle[]>
  /** Omits networks and states without open streams. */
  countOpen(): Promise<readonly OpenStreamCount[]>
}

/** `oldestSeconds`: since the last update of the stream that waits longest; of closing ones, since the close. */
export interface OpenStreamCount {
  readonly network: string
  readonly state: StreamState
  readonly count: number
  readonly oldestSeconds: number
}

interface StreamQuery {
  readonly caller: string
  readonly state: StreamState | null
  readonly limit: number
  /** Id of the last stream of the previous page. */
  readonly after: string | null
}

interface ClosingLease {
  readonly network: string
  readonly now: Date
  readonly leasedUntil: Date
  readonly limit: number
}
