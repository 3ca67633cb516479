import type { Clock } from '../../ports/clock.js'

/**
 * The later of the process's time and the chain's: contracts compare deadlines with block time, so that a process whose clock
 * is behind would settle too late.
 */
export interface ChainClock extends Clock {
  /** Timestamps of the newest blocks, in Unix seconds, one per endpoint; none: nothing is known at the moment. */
  observe(heads: readonly bigint[]): void
  /** How far the process's clock is behind the newest block; 0 if it is not. */
  getLagMs(): number
}

/** No more is added, whatever nodes say: a wrong time must not end payments that are valid for longer. */
export const maxCorrectionMs = 600_000

// A block gets older until the next one: the greatest of the recent differences is closest to the real one.
const memoryMs = 60_000

export const createChainClock = (clock: Clock): ChainClock => {
  let observed: readonly { readonly atMs: number; readonly lagMs: number }[] = []
  let lagMs = 0
  return {
    sleep: clock.sleep,
    now: () =>
      lagMs === 0 ? clock.now() : new Date(clock.now().getTime() + Math.min(lagMs, maxCorrectionMs)),
    observe: (heads) => {
      const sorted = [...heads].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
      // Of two, the earlier: one node with a wrong time changes nothing.
      const median = sorted[Math.floor((sorted.length - 1) / 2)]
      if (median === undefined) return
      const atMs = clock.now().getTime()
      const newest = { atMs, lagMs: Math.max(0, Number(median) * 1_000 - atMs) }
      // Set forward or back, the clock is another one.
      observed = [...observed.filter((each) => Math.abs(atMs - each.atMs) < memoryMs), newest]
      lagMs = Math.max(...observed.map((each) => each.lagMs))
    },
    getLagMs: () => lagMs,
  }
}

/** From here on the process's clock is reported: blocks of some networks are stamped seconds ahead. */
export const notableLagMs = 10_000
