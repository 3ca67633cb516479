import type { ApiError } from './api.js'

/** A request that failed is sent again after a pause, which each failure doubles. */
export const [firstPauseMs, longestPauseMs] = [1_000, 15_000]

/** Ends early when the browser is online again. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      removeEventListener('online', end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    addEventListener('online', end)
    signal?.addEventListener('abort', end)
  })

/** The service may ask for a longer one. */
export const pauseAfter = (error: ApiError, pauseMs: number, signal?: AbortSignal): Promise<void> =>
  pause(Math.max(pauseMs, (error.retryAfterSeconds ?? 0) * 1_000), signal)
