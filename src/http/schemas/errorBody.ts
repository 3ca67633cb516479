import { z } from 'zod'
import { type ErrorCode, errorStatus } from '../../errors.js'
import { bodyLimits } from '../../protocol/bodyLimits.js'

/** The body of every answer that is an error. */
export const errorBody = z
  .object({
    code: z.enum(Object.keys(errorStatus)).meta({ description: 'Stable; programs decide by it' }),
    message: z.string().meta({ description: 'A sentence for people; its wording may change' }),
    operationalCode: z.string().optional().meta({ description: 'Operational code, where one applies' }),
    retryAfter: z
      .int()
      .optional()
      .meta({ description: 'Seconds after which a retry makes sense; the same as the header `Retry-After`' }),
  })
  .meta({ id: 'Error', description: 'What every answer outside of 2xx carries' })

const meanings: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'The request is malformed; the message names the field',
  INVALID_IDEMPOTENCY_KEY: 'The header `Idempotency-Key` is not 1 to 64 letters, digits and hyphens',
  UNAUTHORIZED: "An API key, or the operator's token, is missing or wrong",
  FORBIDDEN: 'The API key may not be used from here, or the instance has no operator token',
  NOT_FOUND: 'There is no such thing',
  METHOD_NOT_ALLOWED: 'The path exists under another method; see the header `Allow`',
  REQUEST_TIMEOUT: 'The request did not arrive in time: a body has 5 s',
  REQUEST_IN_PROGRESS:
    'The first request with this `Idempotency-Key` is still running; ask again after `Retry-After`',
  PAYLOAD_MISMATCH: 'The `Idempotency-Key` was used before with another body',
  PREVIOUS_REQUEST_FAILED: 'The earlier request with this `Idempotency-Key` failed for good',
  REQUEST_TOO_LARGE: 'The body is larger than the route takes',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not plain JSON in UTF-8',
  RATE_LIMITED: 'Too many requests; ask again after `Retry-After`',
  QUOTA_EXCEEDED: "The month's quota is used up",
  INTERNAL_ERROR: 'A failure on our side; nothing was decided',
  VERIFICATION_FAILED: 'The payment could not be judged; ask again',
  SETTLEMENT_FAILED: 'The settlement could not be carried out; ask again',
  IDEMPOTENCY_UNAVAILABLE: 'The record of earlier requests does not answer; nothing was sent, ask again',
  SERVICE_UNAVAILABLE: 'The service or a chain cannot be reached; ask again after `Retry-After`',
}

const exampleMessages: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_REQUEST: 'paymentRequirements.amount: must be a whole number of smallest units, as decimal digits',
  REQUEST_TIMEOUT: 'The body did not arrive in time',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key must be 1 to 64 letters, digits and hyphens',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be sent as application/json',
  INTERNAL_ERROR: 'Something went wrong on our side',
}

const isRepeatable = (code: ErrorCode): boolean =>
  code === 'REQUEST_IN_PROGRESS' || errorStatus[code] === 429 || errorStatus[code] === 503

/** The answers that an operation may give instead of its result, by status. */
export const describeErrors = (codes: readonly ErrorCode[], maxBodyBytes: number = bodyLimits.account) => {
  const answers: Record<
    number,
    { description: string; content: { 'application/json': { schema: typeof errorBody } } }
  > = {}
  for (const [status, grouped] of groupByStatus(codes)) {
    const description = grouped
      .map((code) => `\`${code}\`: ${describeMeaning(code, maxBodyBytes)}`)
      .join('. ')
    answers[status] = {
      description: `${description}.`,
      content: { 'application/json': { schema: errorBody } },
    }
  }
  return answers
}

/** An example of each of these errors, by status, for the reference. */
export const exemplifyErrors = (codes: readonly ErrorCode[], maxBodyBytes: number = bodyLimits.account) => {
  const examples: Record<number, Record<string, { value: unknown }>> = {}
  for (const [status, grouped] of groupByStatus(codes)) {
    examples[status] = Object.fromEntries(
      grouped.map((code) => [code, { value: exemplify(code, maxBodyBytes) }]),
    )
  }
  return examples
}

const describeMeaning = (code: ErrorCode, maxBodyBytes: number): string => {
  if (code !== 'REQUEST_TOO_LARGE') return meanings[code]
  const limit = `The body is larger than ${maxBodyBytes} bytes (${maxBodyBytes / 1_024} kB)`
  return maxBodyBytes === bodyLimits.payment ? `${limit}, unless the instance sets another limit` : limit
}

const writeMessage = (code: ErrorCode, maxBodyBytes: number): string =>
  code === 'REQUEST_TOO_LARGE'
    ? `The body is larger than ${maxBodyBytes} bytes`
    : (exampleMessages[code] ?? meanings[code].replaceAll('`', ''))

const exemplify = (code: ErrorCode, maxBodyBytes: number) => ({
  code,
  message: writeMessage(code, maxBodyBytes),
  ...(isRepeatable(code) ? { retryAfter: 1 } : {}),
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
