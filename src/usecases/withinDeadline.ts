/** How long work may take, and what ends it before. */
export interface Deadline {
  readonly milliseconds: number
  readonly stopped: AbortSignal
}

/**
 * Runs work with a signal that fires when its time is up or when it is stopped. Not `AbortSignal.any` with
 * `AbortSignal.timeout`: Node 20 collects those as garbage while they are waited for, and they never fire.
 */
export const withinDeadline = async <T>(
  { milliseconds, stopped }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController()
  const stop = () => controller.abort(stopped.reason)
  const timer = setTimeout(() => controller.abort(new Error('The deadline passed')), milliseconds)
  stopped.addEventListener('abort', stop, { once: true })
  if (stopped.aborted) stop()
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    stopped.removeEventListener('abort', stop)
  }
}
