import { withSignal } from './deadline.js'

export interface Slots {
  /**
   * Runs the work once a slot is free. Rejects with the signal's reason when it aborts before or meanwhile; work that was
   * started keeps its slot until it ends.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

/** At most `count` works at once; the others wait in order. */
export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>()
  let free = count

  const acquire = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    waiting.add(start)
    try {
      await withSignal(started, signal)
    } catch (error) {
      // Gives a slot back that was passed on at the same moment.
      if (!waiting.delete(start)) release()
      throw error
    }
  }

  const release = (): void => {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    run: async (signal, work) => {
      await acquire(signal)
      const started = async () => {
        try {
          return await work()
        } finally {
          release()
        }
      }
      return await withSignal(started(), signal)
    },
  }
}
