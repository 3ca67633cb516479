import type { Clock } from '../ports/clock.js'

/** Caches `read` for `maxAgeMs`; concurrent callers share one read. Failures are not cached. */
export const cacheFor = <T>(clock: Clock, maxAgeMs: number, read: () => Promise<T>): (() => Promise<T>) => {
  let cached: { readonly value: Promise<T>; readonly readAtMs: number } | null = null
  return () => {
    const nowMs = clock.now().getTime()
    // The clock can be set back, so the age can be negative.
    if (cached !== null && Math.abs(nowMs - cached.readAtMs) < maxAgeMs) return cached.value
    const entry = { value: read(), readAtMs: nowMs }
    cached = entry
    entry.value.catch(() => {
      if (cached === entry) cached = null
    })
    return entry.value
  }
}
