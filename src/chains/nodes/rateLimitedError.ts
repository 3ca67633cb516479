/** The endpoint refused a request because of its rate limit; `retryAfterMs` if it sent Retry-After. */
export class RateLimitedError extends Error {
  readonly retryAfterMs: number | null

  constructor(retryAfterMs: number | null) {
    super('The rate limit of the endpoint is exceeded')
    this.name = 'RateLimitedError'
    this.retryAfterMs = retryAfterMs
  }
}
