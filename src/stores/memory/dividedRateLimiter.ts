import type { RateLimiter } from '../../ports/rateLimiter.js'

export interface DividedRateLimiterOptions {
  readonly limiter: RateLimiter
  /** Including this one. */
  countInstances(): number
}

/** For instances without a shared store: divides each limit by their number, but allows at least 1. */
export const createDividedRateLimiter = ({
  limiter,
  countInstances,
}: DividedRateLimiterOptions): RateLimiter => ({
  take: (windows) => {
    const count = Math.max(1, countInstances())
    if (count === 1) return limiter.take(windows)
    return limiter.take(windows.map((window) => ({ ...window, limit: divide(window.limit, count) })))
  },
  refund: limiter.refund,
  isDegraded: limiter.isDegraded,
  close: limiter.close,
})

const divide = (limit: number, count: number): number =>
  limit === 0 ? 0 : Math.max(1, Math.floor(limit / count))
