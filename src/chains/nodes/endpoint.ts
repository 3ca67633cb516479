import { z } from 'zod'

/** Rejects with `RpcError` for an error response, with any other error without a valid response. */
export interface Endpoint {
  /** Host name only: the rest of the URL may hold a key. */
  readonly host: string
  /** `method` is a JSON-RPC method, or a path below the URL. */
  request<Schema extends z.ZodType>(method: string, params: unknown, schema: Schema): Promise<z.infer<Schema>>
}

/**
 * Reads with a shape, and then what only this request expects; undefined: it is no answer to it. A shape that is built for a
 * request is compiled for it, which takes longer than reading; this one was compiled once.
 */
export const expecting = <Shape extends z.ZodType, Value>(
  shape: Shape,
  read: (value: z.output<Shape>) => Value | undefined,
  problem: string,
) =>
  z.transform((value: unknown, context): Value => {
    const parsed = shape.safeParse(value)
    const found = parsed.success ? read(parsed.data) : undefined
    if (found !== undefined) return found
    const issues = parsed.error?.issues ?? [{ path: [], message: problem }]
    for (const { path, message } of issues) {
      context.issues.push({ code: 'custom', path: [...path], message, input: value })
    }
    return z.NEVER
  })

/** An error response of a node: it was reached and refused the request. */
export class RpcError extends Error {
  readonly code: number
  /** Additional error data; the format depends on the chain. */
  readonly data: unknown
  /** Name of the cause, on chains that give one, such as `UNKNOWN_TRANSACTION`. */
  readonly causeName: string | null

  constructor(code: number, message: string, data: unknown = null, causeName: string | null = null) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
    this.causeName = causeName
  }
}

/** The endpoint refused a request because of its rate limit; `retryAfterMs` if it sent Retry-After. */
export class RateLimitedError extends Error {
  readonly retryAfterMs: number | null

  constructor(retryAfterMs: number | null) {
    super('The rate limit of the endpoint is exceeded')
    this.name = 'RateLimitedError'
    this.retryAfterMs = retryAfterMs
  }
}

// Providers report rate limits in JSON-RPC errors as well as by HTTP 429. The code -32005 alone is ambiguous.
const rateLimitTexts =
  /rate.?limit|too many requests|request (limit|rate|count)|exceeded its .*(capacity|quota)|compute units|throttl|over (the )?quota/i

/** Null if the error is not a rate limit. */
export const readRateLimit = (error: unknown): { readonly retryAfterMs: number | null } | null => {
  if (error instanceof RateLimitedError) return error
  if (!(error instanceof RpcError)) return null
  return error.code === 429 || rateLimitTexts.test(error.message) ? { retryAfterMs: null } : null
}
