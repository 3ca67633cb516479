import { systemClock } from '../../src/platform/clock.js'
import type { Clock } from '../../src/ports/clock.js'

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
