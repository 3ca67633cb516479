import { systemClock } from '../../src/platform/clock.js'
import type { Clock } from '../../src/ports/clock.js'

type ShiftedClock = Clock & { shift(milliseconds: number): void }

/** It is as far ahead of the machine's as the test says. */
export const shiftedClock = (): ShiftedClock => openClock(Date.now)

/** It moves only when the test says so: no time passes for a window, an expiry or an age while a machine is busy. */
export const standingClock = (atMs: number = Date.now()): ShiftedClock => openClock(() => atMs)

const openClock = (readMs: () => number): ShiftedClock => {
  let offset = 0
  return {
    now: () => new Date(readMs() + offset),
    sleep: systemClock.sleep,
    shift: (milliseconds) => {
      offset += milliseconds
    },
  }
}
