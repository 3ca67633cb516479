/** Rejects with the signal's reason when it aborts; the work itself continues. */
export const withSignal = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) {
    work.catch(() => undefined)
    throw signal.reason
  }
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
  }
}

interface StartedDeadline {
  end(): void
  /** Lets the process end before. */
  unref(): void
}

/**
 * Calls `pass` at the deadline, unless it was ended before. A process that stood still, such as on a busy machine, runs its timers
 * before it reads what arrived meanwhile: an answer that is already there is in time.
 */
export const startDeadline = (milliseconds: number, pass: (error: Error) => void): StartedDeadline => {
  let hasEnded = false
  const timer = setTimeout(() => {
    setImmediate(() => {
      if (!hasEnded) pass(new DOMException('The deadline passed', 'TimeoutError'))
    })
  }, milliseconds)
  return {
    end: () => {
      hasEnded = true
      clearTimeout(timer)
    },
    unref: () => void timer.unref(),
  }
}

/** Aborts at the deadline, as `startDeadline` passes. It keeps no process alive. */
export const deadlineSignal = (milliseconds: number): AbortSignal => {
  const controller = new AbortController()
  startDeadline(milliseconds, (error) => controller.abort(error)).unref()
  return controller.signal
}

/**
 * Rejects at the deadline; the work itself continues. One timer and one promise: `AbortSignal.timeout` costs as much as the
 * rest of a verify.
 */
export const withTimeout = <T>(work: Promise<T>, milliseconds: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const deadline = startDeadline(milliseconds, reject)
    work.then(
      (result) => {
        deadline.end()
        resolve(result)
      },
      (error: unknown) => {
        deadline.end()
        reject(error)
      },
    )
  })

/** Resolves to false if the signal aborted the sleep. */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve(false)
      return
    }
    const onAbort = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve(true)
    }, milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })

interface Deadline {
  readonly milliseconds: number
  /** Absent: nothing but the deadline aborts the work. */
  readonly stopped?: AbortSignal
}

/**
 * Runs work with a signal that aborts at the deadline or when stopped. Not `AbortSignal.any` with
 * `AbortSignal.timeout`: Node 20 can garbage-collect those while they are pending, and they never fire.
 */
export const withinDeadline = async <T>(
  { milliseconds, stopped }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController()
  const stop = () => controller.abort(stopped?.reason)
  const deadline = startDeadline(milliseconds, (error) => controller.abort(error))
  stopped?.addEventListener('abort', stop, { once: true })
  if (stopped?.aborted === true) stop()
  try {
    return await work(controller.signal)
  } finally {
    deadline.end()
    stopped?.removeEventListener('abort', stop)
  }
}
