import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { Fields } from '../../protocol/fields.js'
import type {
  ChangedIntent,
  CreatedIntent,
  ExecutedIntent,
  IntentPage,
  IntentRequest,
  IntentStatus,
  IntentWithRoutes,
  RoutedIntent,
} from '../../protocol/intents.js'

export interface IntentCall {
  readonly id: string
  /** Account id, or `anonymous`. */
  readonly caller: string
}

/** Continues when the client disconnects. */
export interface ExecuteRequest extends IntentCall {
  readonly paymentPayload: Fields
  /** Selects the route first, if another one is selected. */
  readonly routeId?: string | undefined
  /** As in `VerifyOptions`. */
  readonly requester?: Requester
  readonly quota: QuotaClaim | null
}

export interface CreateRequest {
  readonly terms: IntentRequest
  /** Account id, or `anonymous`. */
  readonly caller: string
}

interface CreateResponse {
  readonly answer: CreatedIntent
  /** Whether an earlier request with the key created the intent. */
  readonly isReplayed: boolean
}

interface IntentsQuery {
  readonly caller: string
  readonly status?: IntentStatus | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * All but `createIntent` and `listIntents` throw NOT_FOUND, also for intents of other accounts. What changes an intent
 * throws INTENT_EXPIRED, INTENT_NOT_PENDING, NO_ROUTE_SELECTED or ROUTE_EXPIRED if its state does not allow it.
 */
export interface IntentUseCases {
  /**
   * Once per key and body. Throws INVALID_REQUEST for an asset or wallets that fit no network, and what
   * `BeginOncePerKey` throws.
   */
  createIntent(request: CreateRequest & { readonly idempotencyKey: string | null }): Promise<CreateResponse>
  getIntent(call: IntentCall): Promise<IntentWithRoutes>
  listIntents(query: IntentsQuery): Promise<IntentPage>
  /** Throws NOT_FOUND for an unknown route, and SERVICE_UNAVAILABLE if its network does not answer. */
  selectRoute(call: IntentCall & { readonly routeId: string }): Promise<RoutedIntent>
  /** Throws PAYMENT_REFUSED if the payment is refused and nothing was sent, and what /settle throws. */
  executeIntent(request: ExecuteRequest): Promise<ExecutedIntent>
  /** Throws FORBIDDEN for an anonymous intent without the token of its creator. */
  cancelIntent(call: IntentCall & { readonly token: string | null }): Promise<ChangedIntent>
  refreshIntent(call: IntentCall): Promise<IntentWithRoutes>
}
