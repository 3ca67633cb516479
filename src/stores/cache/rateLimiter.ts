import type { Clock } from '../../ports/clock.js'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../../ports/rateLimiter.js'

interface MemoryRateLimiterOptions {
  readonly clock: Clock
  /** Maximum number of buckets; about 300 bytes each. */
  readonly maxBuckets?: number
}

export interface MemoryRateLimiter extends RateLimiter {
  countBuckets(): number
}

interface Bucket {
  readonly id: string
  readonly windowMs: number
  readonly resetsAtMs: number
  used: number
  level: number
  older: Bucket | null
  newer: Bucket | null
}

const defaultMaxBuckets = 100_000
const maxDropsPerRequest = 100
// Levels 0 to 3 are quarters of the limit; 4 is exhausted.
const exhaustedLevel = 4

/** Throws RangeError for windows that cannot be counted. Shared by all stores. */
export const checkWindows = (windows: readonly LimitWindow[]): void => {
  for (const { limit, windowMs, cost = 1 } of windows) {
    // A negative cost would refund other requests, and NaN passes every comparison.
    const isCountable = [limit, windowMs, cost].every((count) => Number.isSafeInteger(count) && count >= 0)
    if (isCountable && windowMs > 0) continue
    throw new RangeError(`Not countable: limit ${limit}, window ${windowMs} ms, cost ${cost}`)
  }
}

class BucketList {
  oldest: Bucket | null = null
  #newest: Bucket | null = null

  add(bucket: Bucket): void {
    bucket.older = this.#newest
    bucket.newer = null
    if (this.#newest === null) this.oldest = bucket
    else this.#newest.newer = bucket
    this.#newest = bucket
  }

  remove(bucket: Bucket): void {
    if (bucket.older === null) this.oldest = bucket.newer
    else bucket.older.newer = bucket.newer
    if (bucket.newer === null) this.#newest = bucket.older
    else bucket.newer.older = bucket.older
  }
}

/** Every operation takes constant time. */
class Buckets {
  readonly #byId = new Map<string, Bucket>()
  readonly #lists = new Map<number, readonly BucketList[]>()
  readonly #max: number
  #exhaustedCount = 0

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#byId.size
  }

  find(id: string, nowMs: number): Bucket | null {
    const bucket = this.#byId.get(id)
    return bucket !== undefined && isLive(bucket, nowMs) ? bucket : null
  }

  start(id: string, windowMs: number, nowMs: number): Bucket {
    const ended = this.#byId.get(id)
    if (ended !== undefined) this.#remove(ended)
    const resetsAtMs = nowMs + windowMs
    const bucket: Bucket = { id, windowMs, resetsAtMs, used: 0, level: 0, older: null, newer: null }
    this.#byId.set(id, bucket)
    this.#listOf(bucket).add(bucket)
    return bucket
  }

  /** Levels only rise: a list is ordered by start, and a bucket that fell back would be out of order. */
  raise(bucket: Bucket, level: number): void {
    if (level <= bucket.level) return
    this.#listOf(bucket).remove(bucket)
    bucket.level = level
    this.#listOf(bucket).add(bucket)
    if (level === exhaustedLevel) this.#exhaustedCount += 1
  }

  /** Drops ended buckets, then evicts until `count` new ones fit. */
  makeRoom(count: number, nowMs: number): void {
    this.#dropEnded(nowMs)
    while (this.size > 0 && this.size + count > this.#max) {
      const bucket = this.#findEvictable()
      if (bucket === null) return
      this.#remove(bucket)
    }
  }

  clear(): void {
    this.#byId.clear()
    this.#lists.clear()
    this.#exhaustedCount = 0
  }

  // Bounded, so that many simultaneous expiries do not block the event loop; still drops more than is added.
  #dropEnded(nowMs: number): void {
    let left = maxDropsPerRequest
    for (const levels of this.#lists.values()) {
      for (const list of levels) {
        for (let bucket = list.oldest; bucket !== null && left > 0; bucket = list.oldest) {
          if (isLive(bucket, nowMs)) break
          this.#remove(bucket)
          left -= 1
        }
      }
    }
  }

  // Least used first: a flood of new clients evicts new clients. Exhausted buckets go last unless they fill
  // the store.
  #findEvictable(): Bucket | null {
    const isMostlyExhausted = this.#exhaustedCount > this.#max * 0.75
    for (const level of isMostlyExhausted ? [exhaustedLevel, 0, 1, 2, 3] : [0, 1, 2, 3, exhaustedLevel]) {
      let soonest: Bucket | null = null
      for (const levels of this.#lists.values()) {
        const oldest = levels[level]?.oldest ?? null
        if (oldest !== null && (soonest === null || oldest.resetsAtMs < soonest.resetsAtMs)) soonest = oldest
      }
      if (soonest !== null) return soonest
    }
    return null
  }

  #remove(bucket: Bucket): void {
    this.#byId.delete(bucket.id)
    this.#listOf(bucket).remove(bucket)
    if (bucket.level === exhaustedLevel) this.#exhaustedCount -= 1
    const isLast = this.#lists.get(bucket.windowMs)?.every(({ oldest }) => oldest === null)
    if (isLast) this.#lists.delete(bucket.windowMs)
  }

  #listOf({ windowMs, level }: Bucket): BucketList {
    const levels =
      this.#lists.get(windowMs) ?? Array.from({ length: exhaustedLevel + 1 }, () => new BucketList())
    this.#lists.set(windowMs, levels)
    const shelf = levels[level]
    if (shelf === undefined) throw new RangeError(`There is no level ${level}`)
    return shelf
  }
}

// The upper bound expires buckets that start in the future because the clock was set back.
const isLive = ({ resetsAtMs, windowMs }: Bucket, nowMs: number): boolean =>
  resetsAtMs > nowMs && resetsAtMs <= nowMs + windowMs

const levelOf = (used: number, limit: number): number =>
  used >= limit ? exhaustedLevel : Math.floor((used / limit) * exhaustedLevel)

/** Fixed windows: a bucket starts with its first request and ends with its window. */
export const createMemoryRateLimiter = ({
  clock,
  maxBuckets = defaultMaxBuckets,
}: MemoryRateLimiterOptions): MemoryRateLimiter => {
  const buckets = new Buckets(maxBuckets)

  const answer = (draws: readonly Draw[], refusedBy: number | null, nowMs: number): RateLimitResult => ({
    isAllowed: refusedBy === null,
    refusedBy,
    windows: draws.map(({ id, limit, windowMs }) => {
      const bucket = buckets.find(id, nowMs)
      return {
        remaining: Math.max(0, limit - (bucket?.used ?? 0)),
        resetsAt: new Date(bucket?.resetsAtMs ?? nowMs + windowMs),
      }
    }),
  })

  const findRefusal = (draws: readonly Draw[], nowMs: number): number | null => {
    const index = draws.findIndex(({ id, limit, cost, isUnrefusable }, position) => {
      if (isUnrefusable) return false
      const used = buckets.find(id, nowMs)?.used ?? 0
      return used + drawnBefore(draws, position) + cost > limit
    })
    return index === -1 ? null : index
  }

  const refuse = (draw: Draw | undefined, nowMs: number): void => {
    const bucket = draw === undefined ? null : buckets.find(draw.id, nowMs)
    if (bucket !== null) buckets.raise(bucket, exhaustedLevel)
  }

  const draw = ({ id, limit, windowMs, cost, isUnrefusable }: Draw, nowMs: number): void => {
    if (cost === 0) return
    const bucket = buckets.find(id, nowMs) ?? buckets.start(id, windowMs, nowMs)
    bucket.used += cost
    const level = levelOf(bucket.used, limit)
    // A flood of new clients must not evict what was counted before it reaches its limit.
    buckets.raise(bucket, isUnrefusable ? Math.max(level, exhaustedLevel - 1) : level)
  }

  return {
    async take(windows) {
      checkWindows(windows)
      const nowMs = clock.now().getTime()
      const draws = windows.map(toDraw)
      const refusedBy = findRefusal(draws, nowMs)
      if (refusedBy !== null) {
        refuse(draws[refusedBy], nowMs)
        return answer(draws, refusedBy, nowMs)
      }
      const newCount = draws.filter(({ id, cost }) => cost > 0 && buckets.find(id, nowMs) === null).length
      if (newCount > 0) buckets.makeRoom(newCount, nowMs)
      for (const each of draws) draw(each, nowMs)
      return answer(draws, null, nowMs)
    },
    refund: async (windows, taken) => {
      const nowMs = clock.now().getTime()
      for (const [index, { id, cost }] of windows.map(toDraw).entries()) {
        const bucket = buckets.find(id, nowMs)
        const isSameWindow = bucket?.resetsAtMs === taken.windows[index]?.resetsAt.getTime()
        if (bucket !== null && isSameWindow) bucket.used = Math.max(0, bucket.used - cost)
      }
    },
    isDegraded: () => false,
    close: async () => buckets.clear(),
    countBuckets: () => buckets.size,
  }
}

interface Draw {
  readonly id: string
  readonly limit: number
  readonly windowMs: number
  readonly cost: number
  readonly isUnrefusable: boolean
}

const toDraw = ({ key, limit, windowMs, cost = 1, isUnrefusable = false }: LimitWindow): Draw => ({
  id: `${windowMs}:${key}`,
  limit,
  windowMs,
  cost,
  isUnrefusable,
})

// A request can draw from one bucket twice; the second draw includes the first.
const drawnBefore = (draws: readonly Draw[], position: number): number => {
  let sum = 0
  for (const [index, { id, cost }] of draws.entries()) {
    if (index >= position) return sum
    if (id === draws[position]?.id) sum += cost
  }
  return sum
}

interface DividedRateLimiterOptions {
  readonly limiter: RateLimiter
  /** Including this one. */
  countInstances(): number
}

/** For instances without a shared store: divides each limit by their number, but allows at least 1. */
export const createDividedRateLimiter = ({
  limiter,
  countInstances,
}: DividedRateLimiterOptions): RateLimiter => ({
  take: (windows) => {
    const count = Math.max(1, countInstances())
    if (count === 1) return limiter.take(windows)
    return limiter.take(windows.map((window) => ({ ...window, limit: divide(window.limit, count) })))
  },
  refund: limiter.refund,
  isDegraded: limiter.isDegraded,
  close: limiter.close,
})

const divide = (limit: number, count: number): number =>
  limit === 0 ? 0 : Math.max(1, Math.floor(limit / count))
