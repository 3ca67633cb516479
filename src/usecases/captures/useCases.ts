import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type {
  AtDeadline,
  HeldPaymentDetails,
  HeldPaymentPage,
  HeldStatus,
  MovedHold,
} from '../../protocol/heldPayments.js'

interface HeldPaymentQuery {
  readonly accountId: string
  /** Any name of the network. */
  readonly network: string
  readonly paymentInfoHash: string
}

export interface MoveRequest extends HeldPaymentQuery {
  readonly quota: QuotaClaim | null
  readonly requester?: Requester
  readonly requestId?: string
  /** Null only for a void, of which there is one. */
  readonly idempotencyKey: string | null
  /** The deadline asks for it, and no request. */
  readonly isAutomatic?: true
  /** As in `SettleAttempt`. */
  readonly isUrgent?: boolean
  /** Called once the settlement is recorded, and before it is sent; an error abandons it. */
  readonly onClaimed?: () => Promise<void>
  readonly asked:
    | { readonly type: 'void' }
    | { readonly type: 'refund'; readonly amount: bigint }
    | {
        readonly type: 'capture'
        readonly amount: bigint
        /** Null: the lowest that the payer's terms allow. */
        readonly fee: bigint | null
        readonly feeReceiver: string | null
        readonly voidsRemainder: boolean
      }
}

interface HeldPaymentsQuery {
  readonly accountId: string
  readonly status?: HeldStatus | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Holds that a key of ours moves, of one account; all others are NOT_FOUND. */
export interface CaptureUseCases {
  /**
   * Captures, voids or refunds once per key, however often and late it is asked. Throws PAYMENT_REFUSED if nothing was sent,
   * PAYLOAD_MISMATCH if the key belongs to another request, and SERVICE_UNAVAILABLE if the chain cannot be read.
   */
  moveHold(request: MoveRequest): Promise<MovedHold>
  /** What is done shortly before the capture deadline. Throws REQUEST_IN_PROGRESS once it has begun, and INVALID_REQUEST when it is too late. */
  setAtDeadline(query: HeldPaymentQuery & { readonly atDeadline: AtDeadline }): Promise<HeldPaymentDetails>
  /** The same for holds that the account binds from now on. */
  setDefault(accountId: string, atDeadline: AtDeadline): Promise<{ readonly atDeadline: AtDeadline }>
  getDefault(accountId: string): Promise<{ readonly atDeadline: AtDeadline }>
  getHeldPayment(query: HeldPaymentQuery): Promise<HeldPaymentDetails>
  listHeldPayments(query: HeldPaymentsQuery): Promise<HeldPaymentPage>
}
