/** How far a search got. */
interface SearchProgress {
  readonly nextBlock: bigint
  /** It had computed this by then. */
  readonly value: bigint
}

/** What earlier log queries of these endpoints showed. It only saves requests, so that a restart may forget it. */
export interface LogMemory {
  /** Blocks that one query may span. */
  readonly range: bigint
  onAnswer(): void
  /** Halves the range. False when even one block was refused: then the range is not the reason. */
  onRefusal(): boolean
  /** The search goes on where this says; null when it begins. */
  recall(search: string): SearchProgress | null
  remember(search: string, nextBlock: bigint, value?: bigint): void
  forget(search: string): void
}

// Providers allow between 10 and 10,000 blocks, and none says so in a form that all share.
const widestRange = 2_000n
// A refusal may have been an overload: after this long a wider range is tried again.
const widenAfterMs = 600_000
const maxSearches = 1_000

export const createLogMemory = (): LogMemory => {
  const cursors = new Map<string, SearchProgress>()
  let range = widestRange
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    get range() {
      return range
    },
    onAnswer: () => {
      if (range === widestRange || performance.now() - refusedAt < widenAfterMs) return
      range = range * 2n < widestRange ? range * 2n : widestRange
    },
    onRefusal: () => {
      refusedAt = performance.now()
      const isRange = range > 1n
      range = isRange ? range / 2n : widestRange
      return isRange
    },
    recall: (search) => cursors.get(search) ?? null,
    remember: (search, nextBlock, value = 0n) => {
      const [oldest] = cursors.keys()
      if (!cursors.has(search) && cursors.size >= maxSearches && oldest !== undefined) cursors.delete(oldest)
      cursors.set(search, { nextBlock, value })
    },
    forget: (search) => {
      cursors.delete(search)
    },
  }
}
