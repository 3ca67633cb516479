const pauseMs = 1_000

// Shorter than the attention that a process has for a row: after that the row may be another request's.
const maxRetryMs = 120_000

/**
 * Tries again in the background what a database that is down for a moment did not take: without it a row that we
 * have turned away from would seem attended for minutes, because we live.
 */
export const retryInBackground = (write: () => Promise<unknown>): void => {
  const givesUpAt = performance.now() + maxRetryMs
  const wait = () => {
    setTimeout(attempt, pauseMs).unref()
  }
  const attempt = () => {
    write().catch(() => {
      if (performance.now() < givesUpAt) wait()
    })
  }
  wait()
}
