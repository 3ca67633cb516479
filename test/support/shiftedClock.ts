import { systemClock } from '../../src/platform/clock.js'
import type { Clock } from '../../src/ports/clock.js'

/** A clock that stands as far from the machine's as a test wants. */
export const shiftedClock = (): Clock & { shift(milliseconds: number): void } => {
  let offset = 0
  return {
    now: () => new Date(Date.now() + offset),
    sleep: systemClock.sleep,
    shift: (milliseconds) => {
      offset += milliseconds
    },
  }
}
