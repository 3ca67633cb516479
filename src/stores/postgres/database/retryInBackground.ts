const pauseMs = 1_000

// Shorter than `maxOwnership`: after that another request may own the row.
const maxRetryMs = 120_000

/** Retries for two minutes; otherwise a live process would own the row until ownership expires. */
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
