/** An endpoint turned a request away because it gets too many; `retryAfterMs` is its own wish, if it said one. */
export class RateLimitedError extends Error {
  readonly retryAfterMs: number | null

  constructor(retryAfterMs: number | null) {
    super('The endpoint gets too many requests')
    this.name = 'RateLimitedError'
    this.retryAfterMs = retryAfterMs
  }
}
