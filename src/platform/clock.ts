import { sleep } from '../concurrency/deadline.js'
import type { Clock } from '../ports/clock.js'

export const systemClock: Clock = { now: () => new Date(), sleep }
