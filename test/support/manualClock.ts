import type { Clock } from '../../src/ports/clock.js'

export interface ManualClock extends Clock {
  advance(milliseconds: number): Promise<void>
  countSleepers(): number
}

interface Sleeper {
  readonly wakesAtMs: number
  readonly wake: (isRested: boolean) => void
}

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
      await drainEventLoop()
    },
    countSleepers: () => sleepers.size,
  }
}

/** Runs all pending microtasks and immediates. */
export const drainEventLoop = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
