import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type {
  CompletedRequirements,
  PricedRequirements,
  PriceRequest,
  RequirementsToComplete,
} from '../../protocol/accepts.js'
import type { Explanation, ReasonCatalogue } from '../../protocol/explanations.js'
import type {
  Readiness,
  RouterView,
  ServiceInfo,
  SettlementDetails,
  SettlementPage,
  SettlementsOfTransaction,
  SettleResult,
  Supported,
  VerifyResult,
} from '../../protocol/results.js'
import type { WirePaymentRequest } from '../../protocol/wire.js'

export interface VerifyRequest {
  readonly body: WirePaymentRequest
  readonly caller: string
  /** As in `VerifyOptions`. */
  readonly requester?: Requester
  readonly quota: QuotaClaim | null
  /** False once the client disconnected: verification stops reading the chain. */
  readonly isAwaited: () => boolean
}

/** The body is untrusted in every respect: its form is explained too. */
export interface ExplainRequest extends Pick<VerifyRequest, 'caller' | 'requester' | 'isAwaited'> {
  readonly body: unknown
}

/** Continues when the client disconnects. */
export interface SettleRequest {
  readonly body: WirePaymentRequest
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** As in `VerifyOptions`. */
  readonly requester?: Requester
  readonly quota: QuotaClaim | null
  readonly idempotencyKey: string | null
  /** As in the log line of the request; absent where no request asks. */
  readonly requestId?: string
  /** False once the client disconnected. Default: always awaited. */
  readonly isAwaited?: () => boolean
}

export interface SettleResponse {
  readonly result: SettleResult
  readonly isReplayed: boolean
}

/** `payer` selects one settlement of a batch. */
interface TransactionQuery {
  readonly network: string
  readonly transaction: string
  readonly payer?: string | undefined
}

interface SettlementsQuery {
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly network?: string | undefined
  /** Inclusive lower bound of `createdAt`. */
  readonly since?: Date | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

interface RouterQuery {
  readonly network: string
  readonly payTo: string
}

/** For people: how a network and its tokens are called. */
interface NetworkView {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly isTestnet: boolean
  readonly tokens: readonly { readonly asset: string; readonly symbol: string; readonly decimals: number }[]
}

export interface ServiceDescription {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly features: ServiceInfo['features']
  readonly limitations: ServiceInfo['limitations']
}

export interface CoreUseCases {
  verifyPayment(request: VerifyRequest): Promise<VerifyResult>
  /** What /verify would answer, rule by rule; nothing is held, counted or recorded. Throws only after the caller disconnected. */
  explainPayment(request: ExplainRequest): Promise<Explanation>
  listReasons(): ReasonCatalogue
  settlePayment(request: SettleRequest): Promise<SettleResponse>
  /** Throws NOT_FOUND. */
  getSettlement(id: string): Promise<SettlementDetails>
  /** Throws NOT_FOUND. */
  getSettlementByTransaction(query: TransactionQuery): Promise<SettlementsOfTransaction>
  /** For operators. Throws INVALID_REQUEST for an unknown cursor. */
  listSettlements(query: SettlementsQuery): Promise<SettlementPage>
  listSupported(): Supported
  /** Configured networks, also those that cannot settle at the moment. */
  listNetworks(): readonly NetworkView[]
  /** Throws NOT_FOUND, and INVALID_REQUEST for a malformed recipient. */
  findRouter(query: RouterQuery): Promise<RouterView>
  /**
   * Throws INVALID_REQUEST if none can be settled now, FORBIDDEN for a recipient whose unique amounts the caller may not
   * issue.
   */
  completeAccepts(request: RequirementsToComplete, caller?: string): Promise<CompletedRequirements>
  /** As `completeAccepts`. */
  priceAccepts(request: PriceRequest, caller?: string): Promise<PricedRequirements>
  checkReadiness(): Promise<Readiness>
  describeService(): ServiceDescription
}
