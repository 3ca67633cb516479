import type { ErrorCode } from '../../errors.js'

/** Of every route without parameters that needs, or may be given, an API key and reads a store. */
export const storeErrors = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** The same, with parameters. */
export const keyedErrors = ['INVALID_REQUEST', ...storeErrors] as const satisfies readonly ErrorCode[]

/** Of every route that takes a JSON body. */
export const bodyErrors = [
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const satisfies readonly ErrorCode[]
