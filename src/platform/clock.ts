import { sleep } from '../concurrency/deadline.js'
import type { Clock } from '../ports/clock.js'

export const systemClock: Clock = { now: () => new Date(), sleep }

interface StallDetector {
  /** Whether this process stood still for more than a second within the last `sinceMs`, or does so until now. */
  hasStalled(sinceMs: number): boolean
}

interface StallDetectorOptions {
  readonly intervalMs?: number
  readonly stallMs?: number
  readonly now?: () => number
}

/** Notices a stopped process, a blocked event loop, a suspended machine: deadlines of clients passed without their fault. */
export const createStallDetector = ({
  intervalMs = 250,
  stallMs = 1_000,
  now = () => performance.now(),
}: StallDetectorOptions = {}): StallDetector => {
  let lastTick = now()
  let stalledUntil = Number.NEGATIVE_INFINITY
  const observe = (): void => {
    const at = now()
    if (at - lastTick > intervalMs + stallMs) stalledUntil = at
    lastTick = at
  }
  setInterval(observe, intervalMs).unref()
  return {
    hasStalled: (sinceMs) => {
      // Other overdue timers may run before ours.
      observe()
      return now() - stalledUntil <= sinceMs
    },
  }
}

export const stalls = createStallDetector()
