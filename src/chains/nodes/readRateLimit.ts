import { RpcError } from './endpoint.js'
import { RateLimitedError } from './rateLimitedError.js'

// Providers report rate limits in JSON-RPC errors as well as by HTTP 429. The code -32005 alone is ambiguous.
const rateLimitTexts =
  /rate.?limit|too many requests|request (limit|rate|count)|exceeded its .*(capacity|quota)|compute units|throttl|over (the )?quota/i

/** Null if the error is not a rate limit. */
export const readRateLimit = (error: unknown): { readonly retryAfterMs: number | null } | null => {
  if (error instanceof RateLimitedError) return error
  if (!(error instanceof RpcError)) return null
  return error.code === 429 || rateLimitTexts.test(error.message) ? { retryAfterMs: null } : null
}
