import type { ErrorCode } from '../../../errors.js'

/** By error code: what happened, and what to do. docs/errors.md says the same. */
export const errorHelp: Readonly<Record<ErrorCode, readonly [explanation: string, remedy: string]>> = {
  INVALID_REQUEST: [
    'The request is malformed; the message names the field.',
    'Correct the field that the message names.',
  ],
  INVALID_IDEMPOTENCY_KEY: [
    'Idempotency-Key is not 1 to 64 letters, digits and hyphens.',
    'Send a key of 1 to 64 letters, digits and hyphens.',
  ],
  INVALID_AMOUNT: [
    'The amount is below what the stream has already used.',
    'Send an amount that is at least what was used before.',
  ],
  AMOUNT_EXCEEDED: [
    'The amount is above the maximum of the stream.',
    'Send at most the maximum of the stream, or open another one.',
  ],
  INVALID_VOUCHER: [
    "The payer's voucher is missing, or does not fit the update.",
    'Let the payer sign a voucher for this amount and sequence.',
  ],
  PAYMENT_REFUSED: [
    'The payment of a stream or an intent was judged and refused, for the reason in errorReason.',
    'Act on the reason in errorReason.',
  ],
  UNAUTHORIZED: [
    'An API key or the operator token is missing or wrong.',
    'Send a valid API key, or the operator token, in the header Authorization.',
  ],
  SIGN_IN_FAILED: [
    'A wallet sign-in is refused; reason is one of these.',
    'Act on the reason; let the client sign in again with a new nonce.',
  ],
  FORBIDDEN: [
    'The key is restricted to other addresses or referrers, its project was revoked, or the instance has no operator token.',
    'Use a key that may do this, or ask the operator.',
  ],
  NOT_FOUND: ['No such path, settlement or delivery.', 'Check path and id.'],
  METHOD_NOT_ALLOWED: ['The path exists with another method: see Allow.', 'Use a method that Allow names.'],
  REQUEST_TIMEOUT: ['The request did not arrive in time; a body has 5 s.', 'Send the request again.'],
  REQUEST_IN_PROGRESS: [
    'The first request with this Idempotency-Key is still in progress. Retry after Retry-After.',
    'Send the same request again after Retry-After.',
  ],
  PAYLOAD_MISMATCH: [
    'This Idempotency-Key, or payment identifier, was used with another body; nothing is charged for this one.',
    'Send the first body again, or use a new key.',
  ],
  PREVIOUS_REQUEST_FAILED: [
    'The request with this Idempotency-Key failed or was refused with a final reason, repeated in errorReason. Use a new payment and a new key.',
    'Use a new payment and a new key.',
  ],
  STREAM_NOT_ACTIVE: [
    'The state of the stream does not allow this; the message names the state.',
    'Read the stream, and open another one if it has ended.',
  ],
  INVALID_SEQUENCE: [
    'The sequence is not above that of the last update.',
    'Send a sequence above the last one.',
  ],
  INTENT_NOT_PENDING: [
    'The state of the intent does not allow this; the message names the state.',
    'Read the intent, and create another one if it has ended.',
  ],
  NO_ROUTE_SELECTED: ['No route of the intent was selected.', 'Select a route first.'],
  STREAM_EXPIRED: [
    'The stream expired with nothing used, or its time to be updated is over.',
    'Open another stream.',
  ],
  INTENT_EXPIRED: ['The intent expired. Create another one.', 'Create another intent.'],
  ROUTE_EXPIRED: ['The route is too old: refresh the intent.', 'Refresh the intent.'],
  REQUEST_TOO_LARGE: ['The body, or the URL and headers, are too large.', 'Send less.'],
  UNSUPPORTED_MEDIA_TYPE: [
    'The body is not uncompressed JSON in UTF-8.',
    'Send uncompressed JSON in UTF-8 with Content-Type: application/json.',
  ],
  RATE_LIMITED: [
    'Too many requests, too many settlements of a payer, recipient or caller, or as many waiting requests or sandbox scenarios as one address or account may have. Retry after Retry-After.',
    'Send the request again after Retry-After.',
  ],
  QUOTA_EXCEEDED: [
    "The key's monthly quota is used up.",
    'Wait for the next month, or ask for a higher tier.',
  ],
  INTERNAL_ERROR: [
    'An unexpected failure; nothing was decided.',
    'Send the request again; report it to the operator if it repeats.',
  ],
  VERIFICATION_FAILED: ['The payment could not be checked in time. Retry.', 'Send the request again.'],
  SETTLEMENT_FAILED: [
    'The payment could not be settled and nothing was sent. Retry the same request.',
    'Send the same request again.',
  ],
  IDEMPOTENCY_UNAVAILABLE: [
    'Idempotency keys cannot be checked (database); nothing was sent. Retry.',
    'Send the same request again.',
  ],
  SERVICE_UNAVAILABLE: [
    'The database, a chain or its hourly budget is unavailable, the service is restarting, or the operator has paused such payments; the message says which. Retry after Retry-After.',
    'Send the request again after Retry-After.',
  ],
}
