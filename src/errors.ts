import type { OperationalCode } from './protocol/reasons/reasonEntry.js'
import type { Reason } from './protocol/reasons.js'
import type { SignInReason } from './protocol/siwx.js'

export const errorStatus = {
  INVALID_REQUEST: 400,
  INVALID_IDEMPOTENCY_KEY: 400,
  /** The amount of a stream is below what was used, or above the maximum. */
  INVALID_AMOUNT: 400,
  AMOUNT_EXCEEDED: 400,
  INVALID_VOUCHER: 400,
  /** A payment was judged and refused; `reason` says why. */
  PAYMENT_REFUSED: 400,
  UNAUTHORIZED: 401,
  SIGN_IN_FAILED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  REQUEST_IN_PROGRESS: 409,
  PAYLOAD_MISMATCH: 409,
  PREVIOUS_REQUEST_FAILED: 409,
  STREAM_NOT_ACTIVE: 409,
  INVALID_SEQUENCE: 409,
  INTENT_NOT_PENDING: 409,
  NO_ROUTE_SELECTED: 409,
  STREAM_EXPIRED: 410,
  INTENT_EXPIRED: 410,
  ROUTE_EXPIRED: 410,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  VERIFICATION_FAILED: 500,
  SETTLEMENT_FAILED: 500,
  IDEMPOTENCY_UNAVAILABLE: 503,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

interface AppErrorOptions {
  /** Logged, never sent to the caller. */
  readonly cause?: unknown
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  readonly operationalCode?: OperationalCode
  /** Why an earlier settlement failed. */
  readonly reason?: Reason
  /** Why a wallet sign-in is refused. */
  readonly signInReason?: SignInReason
  /** The operator wanted it: no failure of the service, although the status is 5xx. */
  readonly isDeliberate?: true
}

export class AppError extends Error {
  readonly code: ErrorCode
  readonly retryAfterSeconds: number | null
  readonly operationalCode: OperationalCode | null
  readonly reason: Reason | null
  readonly signInReason: SignInReason | null
  readonly isDeliberate: boolean

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'AppError'
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
    this.operationalCode = options.operationalCode ?? null
    this.reason = options.reason ?? null
    this.signInReason = options.signInReason ?? null
    this.isDeliberate = options.isDeliberate ?? false
  }
}

/** The request was answered as it should be; false: the service failed. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && (error.isDeliberate || errorStatus[error.code] < firstFailure)

const firstFailure = 500
