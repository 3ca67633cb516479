import type { QuotaClaim } from '../../ports/quotas.js'
import type {
  Readiness,
  SettlementPage,
  SettlementsOfTransaction,
  SettlementView,
  SettleResult,
  Supported,
  VerifyResult,
} from '../../protocol/results.js'
import type { WirePaymentRequest } from '../../protocol/wire.js'

/** A request to judge a payment. */
export interface VerifyRequest {
  readonly body: WirePaymentRequest
  readonly caller: string
  /** The quota of the caller's account; null for a caller without one. */
  readonly quota: QuotaClaim | null
  /** False when the client has hung up: a verify asks the chain nothing more then. */
  readonly isAwaited: () => boolean
}

/** A request to settle a payment; it goes on when the client hangs up. */
export interface SettleRequest {
  readonly body: WirePaymentRequest
  /** An API key's id, or `anonymous`. */
  readonly caller: string
  /** The quota of the caller's account, which is `caller`; null for a caller without one. */
  readonly quota: QuotaClaim | null
  readonly idempotencyKey: string | null
}

/** What /settle answers, and whether it was answered before. */
export interface SettleAnswer {
  readonly result: SettleResult
  readonly isReplayed: boolean
}

/** Which transaction, and whose payment in it. */
export interface TransactionQuestion {
  readonly network: string
  readonly transaction: string
  readonly payer?: string | undefined
}

/** Which settlements an operator wants to see, and from where on. */
export interface SettlementsQuestion {
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly network?: string | undefined
  /** Those that were opened at this time or later. */
  readonly since?: Date | undefined
  readonly limit: number
  /** What an earlier page named in `nextCursor`. */
  readonly cursor?: string | undefined
}

/** What the service says of itself, beside its endpoints. */
export interface ServiceDescription {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly features: Readonly<Record<string, boolean>>
}

/** The verbs of the noun `core`. */
export interface CoreUseCases {
  verifyPayment(request: VerifyRequest): Promise<VerifyResult>
  settlePayment(request: SettleRequest): Promise<SettleAnswer>
  /** Throws NOT_FOUND. */
  getSettlement(id: string): Promise<SettlementView>
  /** Throws NOT_FOUND. */
  getSettlementByTransaction(question: TransactionQuestion): Promise<SettlementsOfTransaction>
  /** For those who run the service. Throws INVALID_REQUEST for a cursor that no page named. */
  listSettlements(question: SettlementsQuestion): Promise<SettlementPage>
  listSupported(): Supported
  checkReadiness(): Promise<Readiness>
  describeService(): ServiceDescription
}
