import type { Clock } from '../ports/clock.js'

/** Reads at most once in a while, for all who ask meanwhile; what failed is read again by the next. */
export const cacheFor = <T>(clock: Clock, maxAgeMs: number, read: () => Promise<T>): (() => Promise<T>) => {
  let remembered: { readonly value: Promise<T>; readonly readAtMs: number } | null = null
  return () => {
    const nowMs = clock.now().getTime()
    // The clock may have been set back meanwhile.
    if (remembered !== null && Math.abs(nowMs - remembered.readAtMs) < maxAgeMs) return remembered.value
    const reading = { value: read(), readAtMs: nowMs }
    remembered = reading
    reading.value.catch(() => {
      if (remembered === reading) remembered = null
    })
    return reading.value
  }
}
