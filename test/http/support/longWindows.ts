import type { LimitWindow, RateLimiter } from '../../../src/ports/rateLimiter.js'

const factor = 600

const lengthen = (windows: readonly LimitWindow[]): readonly LimitWindow[] =>
  windows.map((window) => ({ ...window, windowMs: factor * window.windowMs }))

/** Its windows end in no test: a busy machine takes longer than a minute for the requests that one is about. */
export const withLongWindows = (limiter: RateLimiter): RateLimiter => ({
  ...limiter,
  take: (windows) => limiter.take(lengthen(windows)),
  refund: (windows, taken) => limiter.refund(lengthen(windows), taken),
})
