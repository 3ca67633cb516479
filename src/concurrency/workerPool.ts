/** How a pool works. */
export interface WorkerPoolOptions<Item> {
  /** How many items are worked on at once. */
  readonly atOnce: number
  /** Items with one key share their failures, such as those of one network. */
  readonly keyOf: (item: Item) => string
  /** After so many failures of a key its other items are skipped. */
  readonly maxFailuresPerKey: number
  /** Aborted: no further item is started. */
  readonly stopped: AbortSignal
  readonly onFailure: (item: Item, error: unknown) => void
}

/** Bounded parallel work. Failures are counted over all runs of one pool. */
export interface WorkerPool<Item> {
  /** Resolves when every started item has ended. Never rejects because of an item. */
  run(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void>
}

/** Builds a pool with no failures. */
export const createWorkerPool = <Item>(options: WorkerPoolOptions<Item>): WorkerPool<Item> => {
  const { atOnce, keyOf, maxFailuresPerKey, stopped, onFailure } = options
  const failures = new Map<string, number>()

  const attempt = async (item: Item, work: (item: Item) => Promise<void>): Promise<void> => {
    const key = keyOf(item)
    if ((failures.get(key) ?? 0) >= maxFailuresPerKey) return
    try {
      await work(item)
    } catch (error) {
      failures.set(key, (failures.get(key) ?? 0) + 1)
      onFailure(item, error)
    }
  }

  return {
    run: async (items, work) => {
      const queue = items.values()
      const worker = async (): Promise<void> => {
        // One iterator for all workers: each item is taken once.
        for (const item of queue) {
          if (stopped.aborted) return
          await attempt(item, work)
        }
      }
      await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
    },
  }
}
