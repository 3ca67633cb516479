import type { ApiError } from './api.js'

export const firstPauseMs = 1_000
const longestPauseMs = 15_000

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

/** Waits before a request that failed is sent again, longer if the service asks for that. Returns the next pause. */
export const pauseAfter = async (error: ApiError, pauseMs: number, signal?: AbortSignal): Promise<number> => {
  await pause(Math.max(pauseMs, (error.retryAfterSeconds ?? 0) * 1_000), signal)
  return Math.min(2 * pauseMs, longestPauseMs)
}
