import type { RateLimiter } from '../../ports/rateLimiter.js'

/** What a limiter of one instance among several is built from. */
export interface DividedRateLimiterOptions {
  /** Counts for this process; closed on `close()`. */
  readonly limiter: RateLimiter
  /** How many instances there are, this one included. */
  countInstances(): number
}

/**
 * Builds a limiter that gives this instance its share of each limit, so that instances which cannot count together
 * allow no more than one would, as long as each gets its share of the requests. At least 1 is left of any limit.
 */
export const createDividedRateLimiter = ({
  limiter,
  countInstances,
}: DividedRateLimiterOptions): RateLimiter => ({
  take: (windows) => {
    const count = Math.max(1, countInstances())
    if (count === 1) return limiter.take(windows)
    return limiter.take(windows.map((window) => ({ ...window, limit: divide(window.limit, count) })))
  },
  isDegraded: limiter.isDegraded,
  close: limiter.close,
})

const divide = (limit: number, count: number): number =>
  limit === 0 ? 0 : Math.max(1, Math.floor(limit / count))
