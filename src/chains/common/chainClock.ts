import type { Clock } from '../../ports/clock.js'

/**
 * The later of the process's time and the chain's: contracts compare deadlines with block time, so that a process whose clock
 * is behind would settle too late.
 */
export interface ChainClock extends Clock {
  /** Timestamps of the newest blocks, in Unix seconds, one per endpoint; none: nothing is known at the moment. */
  observe(heads: readonly bigint[]): void
  /** How far the process's clock is behind the newest block; 0 if it is not, null if no network time was observed within a minute. */
  getLagMs(): number | null
}

/** No more is added, whatever nodes say: a wrong time must not end payments that are valid for longer. */
const maxCorrectionMs = 600_000

// A block gets older until the next one: the greatest of the recent differences is closest to the real one.
const memoryMs = 60_000

interface Observation {
  readonly atMs: number
  /** The newest block is ahead by this; negative: it is older. */
  readonly aheadMs: number
}

export const createChainClock = (clock: Clock): ChainClock => {
  let observed: readonly Observation[] = []
  let lagMs = 0
  return {
    sleep: clock.sleep,
    now: () =>
      lagMs === 0 ? clock.now() : new Date(clock.now().getTime() + Math.min(lagMs, maxCorrectionMs)),
    observe: (heads) => {
      const sorted = [...heads].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
      // The earlier of two counts, so that one node with a wrong time changes nothing.
      const median = sorted[Math.floor((sorted.length - 1) / 2)]
      if (median === undefined) return
      const atMs = clock.now().getTime()
      const newest = { atMs, aheadMs: Number(median) * 1_000 - atMs }
      // Set forward or back, the clock is another one.
      observed = [...observed.filter((each) => Math.abs(atMs - each.atMs) < memoryMs), newest]
      lagMs = Math.max(0, ...observed.map(({ aheadMs }) => aheadMs))
    },
    getLagMs: () => {
      const nowMs = clock.now().getTime()
      // A chain that stands still shows nothing of our clock.
      const shows = ({ atMs, aheadMs }: Observation): boolean =>
        Math.abs(nowMs - atMs) < memoryMs && aheadMs > -maxCorrectionMs
      return observed.some(shows) ? lagMs : null
    },
  }
}

/**
 * How far the process's clock is behind all networks; 0 while none is known. A slow clock shows on every network, a wrong
 * block time on one.
 */
export const findCommonLagMs = (lags: readonly (number | null)[]): number => {
  const known = lags.filter((lag) => lag !== null)
  return known.length === 0 ? 0 : Math.min(maxCorrectionMs, ...known)
}

/** A smaller lag is not reported, because blocks of some networks are stamped seconds ahead. */
export const notableLagMs = 10_000
