import type { Clock } from '../ports/clock.js'
import { sleep } from './deadline.js'

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date(), sleep }
