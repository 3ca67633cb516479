import { sleep } from '../deadline.js'
import type { Clock } from '../ports/clock.js'

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date(), sleep }
