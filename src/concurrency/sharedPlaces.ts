/** A holder may have an eighth as many places as are free. */
export const shareOfFree = 8

interface SharedPlaces {
  /** Takes a place for all of the holders, and returns how to give it back; null if one of them has its share. */
  take(holders: readonly string[]): (() => void) | null
}

/**
 * Places that no holder can fill. The share shrinks as the places fill up, and a holder that has none gets one while one
 * is free (dynamic thresholds, by which switches share their buffers). Of 500 places one holder takes 56, eight take 308,
 * and it takes 39 to fill them; of 10,000 it takes 65.
 */
export const createSharedPlaces = (places: number): SharedPlaces => {
  const held = new Map<string, number>()
  let taken = 0
  return {
    take: (holders) => {
      const free = places - taken
      const isOver = (holder: string) => (held.get(holder) ?? 0) * shareOfFree >= free
      if (free <= 0 || holders.some(isOver)) return null
      taken += 1
      for (const holder of holders) held.set(holder, (held.get(holder) ?? 0) + 1)
      return () => {
        taken -= 1
        for (const holder of holders) {
          const left = (held.get(holder) ?? 1) - 1
          if (left === 0) held.delete(holder)
          else held.set(holder, left)
        }
      }
    },
  }
}
