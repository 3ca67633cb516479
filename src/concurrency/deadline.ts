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

/**
 * Calls `pass` at the deadline, unless what it returns was called before. A process that stood still, such as on a busy machine,
 * runs its timers before it reads what arrived meanwhile: an answer that is already there is in time.
 */
export const startDeadline = (milliseconds: number, pass: (error: Error) => void): (() => void) => {
  let isOver = false
  const timer = setTimeout(() => {
    setImmediate(() => {
      if (!isOver) pass(new DOMException('The deadline passed', 'TimeoutError'))
    })
  }, milliseconds)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/**
 * Rejects at the deadline; the work itself continues. One timer and one promise: `AbortSignal.timeout` costs as much as the
 * rest of a verify.
 */
export const withTimeout = <T>(work: Promise<T>, milliseconds: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = startDeadline(milliseconds, reject)
    work.then(
      (result) => {
        end()
        resolve(result)
      },
      (error: unknown) => {
        end()
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
  const end = startDeadline(milliseconds, (error) => controller.abort(error))
  stopped?.addEventListener('abort', stop, { once: true })
  if (stopped?.aborted === true) stop()
  try {
    return await work(controller.signal)
  } finally {
    end()
    stopped?.removeEventListener('abort', stop)
  }
}
