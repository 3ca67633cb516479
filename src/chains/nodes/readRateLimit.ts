import { RpcRefusal } from './endpoint.js'
import { RateLimitedError } from './rateLimitedError.js'

// Providers say it in an error of JSON-RPC as well as by HTTP 429. The code -32005 alone means many things.
const busyWords =
  /rate.?limit|too many requests|request (limit|rate|count)|exceeded its .*(capacity|quota)|compute units|throttl|over (the )?quota/i

/** Whether an endpoint turned a request away because it gets too many, and how long it wants to be left alone. */
export const readRateLimit = (error: unknown): { readonly retryAfterMs: number | null } | null => {
  if (error instanceof RateLimitedError) return error
  if (!(error instanceof RpcRefusal)) return null
  return error.code === 429 || busyWords.test(error.message) ? { retryAfterMs: null } : null
}
