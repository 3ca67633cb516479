import type { ErrorCode } from '../../errors.js'

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
