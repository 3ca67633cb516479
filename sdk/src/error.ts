interface ErrorDetails {
  /** HTTP status; null when no response arrived. */
  readonly status: number | null
  /** Such as `QUOTA_EXCEEDED`; `NO_RESPONSE` when none arrived. */
  readonly code: string
  readonly message: string
  readonly retryAfterSeconds: number | null
  /** Quote it to the operator. */
  readonly requestId: string | null
  /** A settle whose outcome is unknown has it: settle the same payment with it again. */
  readonly idempotencyKey: string | null
  /** Why a payment was refused, such as `insufficient_funds`. */
  readonly errorReason: string | null
  readonly cause?: unknown
}

/** No outcome is known: of a settle, an earlier request can have one. A refused payment is a result, not an error. */
export class QuittanceError extends Error {
  readonly status: number | null
  readonly code: string
  readonly retryAfterSeconds: number | null
  readonly requestId: string | null
  readonly idempotencyKey: string | null
  readonly errorReason: string | null

  constructor({ message, cause, ...details }: ErrorDetails) {
    super(message, { cause })
    this.name = 'QuittanceError'
    this.status = details.status
    this.code = details.code
    this.retryAfterSeconds = details.retryAfterSeconds
    this.requestId = details.requestId
    this.idempotencyKey = details.idempotencyKey
    this.errorReason = details.errorReason
  }
}
