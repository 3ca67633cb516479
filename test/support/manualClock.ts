import type { Clock } from '../../src/ports/clock.js'

/** A clock that stands until it is moved. */
export interface ManualClock extends Clock {
  /** Moves time on, wakes who has slept long enough, and lets them run until they sleep again. */
  advance(milliseconds: number): Promise<void>
  /** How many sleep. */
  countSleepers(): number
}

interface Sleeper {
  readonly wakesAtMs: number
  readonly wake: (isRested: boolean) => void
}

/** Creates a clock that shows a given moment. */
export const createManualClock = (start: Date = new Date('2026-01-01T00:00:00Z')): ManualClock => {
  let nowMs = start.getTime()
  const sleepers = new Set<Sleeper>()
  return {
    now: () => new Date(nowMs),
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) {
          resolve(false)
          return
        }
        const onAbort = () => sleeper.wake(false)
        const sleeper: Sleeper = {
          wakesAtMs: nowMs + milliseconds,
          wake: (isRested) => {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', onAbort)
            resolve(isRested)
          },
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    advance: async (milliseconds) => {
      nowMs += milliseconds
      for (const sleeper of [...sleepers]) if (sleeper.wakesAtMs <= nowMs) sleeper.wake(true)
      await settleDown()
    },
    countSleepers: () => sleepers.size,
  }
}

/** Lets everything run that waits for nothing but its turn. */
export const settleDown = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
