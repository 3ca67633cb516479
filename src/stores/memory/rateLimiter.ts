import type { Clock } from '../../ports/clock.js'
import type { LimitAnswer, LimitWindow, RateLimiter } from '../../ports/rateLimiter.js'

/** What the limiter in memory is built from. */
export interface MemoryRateLimiterOptions {
  readonly clock: Clock
  /** How many buckets are remembered at most; about 300 bytes each. */
  readonly maxBuckets?: number
}

/** Limits of one process. */
export interface MemoryRateLimiter extends RateLimiter {
  /** How many buckets are remembered now. */
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
// Quarters of the limit, then a level of its own for what is used up.
const exhausted = 4

/** Throws RangeError for a window that cannot be counted; no store may draw from one. */
export const checkWindows = (windows: readonly LimitWindow[]): void => {
  for (const { limit, windowMs, cost = 1 } of windows) {
    // A negative cost would give back what others drew, and NaN passes every comparison with a limit.
    const isCountable = [limit, windowMs, cost].every((count) => Number.isSafeInteger(count) && count >= 0)
    if (isCountable && windowMs > 0) continue
    throw new RangeError(`Not countable: limit ${limit}, window ${windowMs} ms, cost ${cost}`)
  }
}

/** Buckets of one level and one length, in the order in which they came to it. */
class Shelf {
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

/** Every live bucket up to a maximum; each operation takes constant time, whatever is remembered. */
class Buckets {
  readonly #byId = new Map<string, Bucket>()
  readonly #shelves = new Map<number, readonly Shelf[]>()
  readonly #max: number
  #exhaustedCount = 0

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#byId.size
  }

  /** The bucket with this id unless its window has ended. */
  find(id: string, nowMs: number): Bucket | null {
    const bucket = this.#byId.get(id)
    return bucket !== undefined && isLive(bucket, nowMs) ? bucket : null
  }

  start(id: string, windowMs: number, nowMs: number): Bucket {
    const ended = this.#byId.get(id)
    if (ended !== undefined) this.#forget(ended)
    const resetsAtMs = nowMs + windowMs
    const bucket: Bucket = { id, windowMs, resetsAtMs, used: 0, level: 0, older: null, newer: null }
    this.#byId.set(id, bucket)
    this.#shelfOf(bucket).add(bucket)
    return bucket
  }

  /** Notes how near its limit a bucket is; it never gets farther away, because use only grows. */
  raise(bucket: Bucket, level: number): void {
    if (level <= bucket.level) return
    this.#shelfOf(bucket).remove(bucket)
    bucket.level = level
    this.#shelfOf(bucket).add(bucket)
    if (level === exhausted) this.#exhaustedCount += 1
  }

  /** Drops what has ended, then as many more as `count` new buckets need. */
  makeRoom(count: number, nowMs: number): void {
    this.#dropEnded(nowMs)
    while (this.size > 0 && this.size + count > this.#max) {
      const bucket = this.#leastMissed()
      if (bucket === null) return
      this.#forget(bucket)
    }
  }

  clear(): void {
    this.#byId.clear()
    this.#shelves.clear()
    this.#exhaustedCount = 0
  }

  // The number is bounded so that a burst which ends all at once does not stop the process; each request
  // still drops more than it adds.
  #dropEnded(nowMs: number): void {
    let left = maxDropsPerRequest
    for (const levels of this.#shelves.values()) {
      for (const shelf of levels) {
        for (let bucket = shelf.oldest; bucket !== null && left > 0; bucket = shelf.oldest) {
          if (isLive(bucket, nowMs)) break
          this.#forget(bucket)
          left -= 1
        }
      }
    }
  }

  // A flood of strangers pushes out strangers: the least used go first, and what is used up goes last.
  // Unless that alone fills the store: then nobody new would be remembered, and so nobody new be limited.
  #leastMissed(): Bucket | null {
    const isCrowded = this.#exhaustedCount > this.#max * 0.75
    for (const level of isCrowded ? [exhausted, 0, 1, 2, 3] : [0, 1, 2, 3, exhausted]) {
      let soonest: Bucket | null = null
      for (const levels of this.#shelves.values()) {
        const oldest = levels[level]?.oldest ?? null
        if (oldest !== null && (soonest === null || oldest.resetsAtMs < soonest.resetsAtMs)) soonest = oldest
      }
      if (soonest !== null) return soonest
    }
    return null
  }

  #forget(bucket: Bucket): void {
    this.#byId.delete(bucket.id)
    this.#shelfOf(bucket).remove(bucket)
    if (bucket.level === exhausted) this.#exhaustedCount -= 1
    const isLast = this.#shelves.get(bucket.windowMs)?.every(({ oldest }) => oldest === null)
    if (isLast) this.#shelves.delete(bucket.windowMs)
  }

  #shelfOf({ windowMs, level }: Bucket): Shelf {
    const levels = this.#shelves.get(windowMs) ?? Array.from({ length: exhausted + 1 }, () => new Shelf())
    this.#shelves.set(windowMs, levels)
    const shelf = levels[level]
    if (shelf === undefined) throw new RangeError(`There is no level ${level}`)
    return shelf
  }
}

// A clock that was set back would otherwise lock a bucket for as long as it was set back.
const isLive = ({ resetsAtMs, windowMs }: Bucket, nowMs: number): boolean =>
  resetsAtMs > nowMs && resetsAtMs <= nowMs + windowMs

const levelOf = (used: number, limit: number): number =>
  used >= limit ? exhausted : Math.floor((used / limit) * exhausted)

/** Builds a limiter that counts in this process: buckets live from the first hit to the end of their window. */
export const createMemoryRateLimiter = ({
  clock,
  maxBuckets = defaultMaxBuckets,
}: MemoryRateLimiterOptions): MemoryRateLimiter => {
  const buckets = new Buckets(maxBuckets)

  const answer = (draws: readonly Draw[], refusedBy: number | null, nowMs: number): LimitAnswer => ({
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
    const index = draws.findIndex(({ id, limit, cost }, position) => {
      const used = buckets.find(id, nowMs)?.used ?? 0
      return used + drawnBefore(draws, position) + cost > limit
    })
    return index === -1 ? null : index
  }

  const refuse = (draw: Draw | undefined, nowMs: number): void => {
    const bucket = draw === undefined ? null : buckets.find(draw.id, nowMs)
    if (bucket !== null) buckets.raise(bucket, exhausted)
  }

  const draw = ({ id, limit, windowMs, cost }: Draw, nowMs: number): void => {
    if (cost === 0) return
    const bucket = buckets.find(id, nowMs) ?? buckets.start(id, windowMs, nowMs)
    bucket.used += cost
    buckets.raise(bucket, levelOf(bucket.used, limit))
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
}

// The length is a part of the name: `per minute` and `per hour` of one key are two buckets.
const toDraw = ({ key, limit, windowMs, cost = 1 }: LimitWindow): Draw => ({
  id: `${windowMs}:${key}`,
  limit,
  windowMs,
  cost,
})

// One request may name one bucket twice; the second draw sees the first.
const drawnBefore = (draws: readonly Draw[], position: number): number => {
  let sum = 0
  for (const [index, { id, cost }] of draws.entries()) {
    if (index >= position) return sum
    if (id === draws[position]?.id) sum += cost
  }
  return sum
}
