import { z } from 'zod'
import { type ErrorCode, errorStatus } from '../../errors.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { operationalCodeName, reasonName } from '../../protocol/results.js'
import { signInReasons } from '../../protocol/siwx.js'

/** Every route without parameters that takes an API key and reads a store has them. */
export const storeErrors = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** The same, with parameters. */
export const keyedErrors = ['INVALID_REQUEST', ...storeErrors] as const satisfies readonly ErrorCode[]

/** Every route that takes a JSON body has them. */
export const bodyErrors = [
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const satisfies readonly ErrorCode[]

/** Of operations with a body that take a key, and may need none. */
export const openErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  ...bodyErrors,
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const errorBody = z
  .object({
    code: z.enum(Object.keys(errorStatus)).meta({ description: 'Stable, machine-readable' }),
    message: z.string().meta({ description: 'Human-readable; the wording may change' }),
    /** With `PREVIOUS_REQUEST_FAILED`. */
    errorReason: reasonName,
    /** With `SIGN_IN_FAILED`. */
    reason: z
      .enum(Object.keys(signInReasons))
      .optional()
      .meta({ description: 'With `SIGN_IN_FAILED`: why the wallet sign-in is refused' }),
    operationalCode: operationalCodeName,
    retryAfter: z
      .int()
      .optional()
      .meta({ description: 'Seconds to wait before a retry; equals the header `Retry-After`' }),
  })
  .meta({ id: 'Error', description: 'Body of every response outside 2xx' })

export type Examples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>

/** Without examples, those of the components of the schema serve. */
export const jsonResponse = <Schema extends z.ZodType>(
  description: string,
  schema: Schema,
  examples?: Examples,
) => ({
  description,
  content: { 'application/json': { schema, examples } },
})

const meanings: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'The request is malformed; the message names the field',
  INVALID_IDEMPOTENCY_KEY: 'The header `Idempotency-Key` is not 1 to 64 letters, digits and hyphens',
  INVALID_AMOUNT: 'The amount is below what the stream has already used',
  AMOUNT_EXCEEDED: 'The amount is above the maximum of the stream',
  INVALID_VOUCHER: "The payer's voucher is missing, or does not fit the update",
  PAYMENT_REFUSED: 'The payment was judged and refused; see `errorReason`',
  UNAUTHORIZED: "An API key, or the operator's token, is missing or wrong",
  SIGN_IN_FAILED: 'The wallet sign-in is refused; see `reason`',
  FORBIDDEN: 'The restrictions of the API key exclude this client, or the instance has no operator token',
  NOT_FOUND: 'The resource does not exist',
  METHOD_NOT_ALLOWED: 'The method is not allowed for this path; see the header `Allow`',
  REQUEST_TIMEOUT: 'The request did not arrive in time; a body has 5 s',
  REQUEST_IN_PROGRESS:
    'The first request with this `Idempotency-Key` is still in progress; retry after `Retry-After`',
  PAYLOAD_MISMATCH: 'The `Idempotency-Key` was already used with a different body',
  PREVIOUS_REQUEST_FAILED: 'The earlier request with this `Idempotency-Key` failed permanently',
  STREAM_NOT_ACTIVE: 'The state of the stream does not allow this; see the message',
  INVALID_SEQUENCE: 'The sequence is not above that of the last update',
  INTENT_NOT_PENDING: 'The state of the intent does not allow this; see the message',
  NO_ROUTE_SELECTED: 'No route of the intent was selected',
  STREAM_EXPIRED: 'The stream expired',
  INTENT_EXPIRED: 'The intent expired',
  ROUTE_EXPIRED: 'The route is too old; refresh the intent',
  REQUEST_TOO_LARGE: 'The body is larger than the limit of the route',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not uncompressed JSON in UTF-8',
  RATE_LIMITED: 'Too many requests; retry after `Retry-After`',
  QUOTA_EXCEEDED: 'The monthly quota is used up',
  INTERNAL_ERROR: 'Internal error; there is no result',
  VERIFICATION_FAILED: 'The payment could not be verified; retry',
  SETTLEMENT_FAILED: 'The settlement could not be executed; retry',
  IDEMPOTENCY_UNAVAILABLE: 'The idempotency store is unavailable; nothing was sent, retry',
  SERVICE_UNAVAILABLE: 'The service or a chain is unavailable; retry after `Retry-After`',
}

const exampleMessages: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_REQUEST: 'paymentRequirements.amount: must be a whole number of smallest units, as decimal digits',
  REQUEST_TIMEOUT: 'The body did not arrive in time',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key must be 1 to 64 letters, digits and hyphens',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be sent as application/json',
  INTERNAL_ERROR: 'Internal error',
}

const isRetryable = (code: ErrorCode): boolean =>
  code === 'REQUEST_IN_PROGRESS' || errorStatus[code] === 429 || errorStatus[code] === 503

export const describeErrors = (codes: readonly ErrorCode[], maxBodyBytes: number = bodyLimits.account) => {
  const responses: Record<number, ReturnType<typeof jsonResponse<typeof errorBody>>> = {}
  for (const [status, grouped] of groupByStatus(codes)) {
    const description = grouped
      .map((code) => `\`${code}\`: ${describeMeaning(code, maxBodyBytes)}`)
      .join('. ')
    const examples = grouped.map((code) => [code, { value: exemplify(code, maxBodyBytes) }])
    responses[status] = jsonResponse(`${description}.`, errorBody, Object.fromEntries(examples))
  }
  return responses
}

const describeMeaning = (code: ErrorCode, maxBodyBytes: number): string => {
  if (code !== 'REQUEST_TOO_LARGE') return meanings[code]
  const limit = `The body is larger than ${maxBodyBytes} bytes (${maxBodyBytes / 1_024} kB)`
  const isDefault = maxBodyBytes === bodyLimits.payment || maxBodyBytes === bodyLimits.settle
  return isDefault ? `${limit}, unless the instance sets another limit` : limit
}

const writeMessage = (code: ErrorCode, maxBodyBytes: number): string =>
  code === 'REQUEST_TOO_LARGE'
    ? `The body is larger than ${maxBodyBytes} bytes`
    : (exampleMessages[code] ?? meanings[code].replaceAll('`', ''))

const exemplify = (code: ErrorCode, maxBodyBytes: number) => ({
  code,
  message: writeMessage(code, maxBodyBytes),
  ...(isRetryable(code) ? { retryAfter: 1 } : {}),
})

const groupByStatus = (codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> => {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const group = groups.get(errorStatus[code])
    if (group === undefined) groups.set(errorStatus[code], [code])
    else group.push(code)
  }
  return groups
}
