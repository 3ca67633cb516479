import type { Fields } from '../protocol/fields.js'
import type {
  IntentRequest,
  IntentRequirements,
  IntentRoute,
  IntentStatus,
  UnavailableRoute,
} from '../protocol/intents.js'
import type { Reason } from '../protocol/reasons.js'

/** What was asked for; never changes. */
export type IntentTerms = Omit<IntentRequest, 'expiresIn'>

/** The routes as they were last computed. */
export interface IntentPlan {
  /** Best first. */
  readonly routes: readonly IntentRoute[]
  readonly unavailable: readonly UnavailableRoute[]
  /** Every route is valid until then. */
  readonly validUntil: Date
}

export interface SelectedRoute {
  readonly route: IntentRoute
  /** Authoritative: a payload is judged against them, whatever it repeats. */
  readonly requirements: IntentRequirements
}

export interface IntentPayment {
  readonly settlementId: string
  readonly authorizationId: string
}

export interface Intent {
  readonly id: string
  /** Account id, or `anonymous`. */
  readonly caller: string
  readonly status: IntentStatus
  readonly terms: IntentTerms
  readonly plan: IntentPlan
  /** Not null from `routed` on. */
  readonly selected: SelectedRoute | null
  /** Not null in `executing`, `completed` and `failed`. */
  readonly payment: IntentPayment | null
  readonly transaction: string | null
  readonly settledAmount: bigint | null
  readonly reason: Reason | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** When it expires in fact: later than `expiresAt` while the selected route is one of `exact-direct`. */
  readonly endsAt: Date
  readonly closedAt: Date | null
  /** Set when a transfer from before the cancellation executes it. */
  readonly cancelledAt: Date | null
  /** Digest of the token that controls it; null for accounts. */
  readonly controlDigest: string | null
}

export interface IntentEvent {
  /** Such as `intent.completed`. */
  readonly type: string
  /** Snapshot for webhooks. */
  readonly data: Fields
}

export interface IntentChange {
  /** The same object: nothing changed, nothing is written. */
  readonly intent: Intent
  readonly event: IntentEvent | null
}

interface IntentQuery {
  readonly caller: string
  readonly status?: IntentStatus | undefined
  /** Id of the last intent of the previous page. */
  readonly before?: string | undefined
  readonly limit: number
  readonly now: Date
}

/** A settlement executes at most one intent. Events are written in the transaction of their change. */
export interface IntentStore {
  create(created: IntentChange): Promise<void>
  find(id: string): Promise<Intent | null>
  /** `decide` sees the newest state: changes of one intent happen one after the other. Throws what it throws. */
  change(id: string, decide: (intent: Intent) => IntentChange): Promise<Intent | null>
  /** Newest first. */
  list(query: IntentQuery): Promise<readonly Intent[]>
  /** Executing intents whose settlement has ended. */
  listSettled(limit: number): Promise<readonly Intent[]>
  /** Pending and routed intents that have ended by `endsAt`, the oldest first. */
  listOverdue(now: Date, limit: number): Promise<readonly Intent[]>
  /** Deletes intents that ended before: with a payment, and without one. */
  purge(before: { readonly paid: Date; readonly unpaid: Date }, stopped?: AbortSignal): Promise<void>
}
