export interface WorkerPoolOptions<Item> {
  readonly concurrency: number
  /** Groups items that share a failure count, such as those of one network. */
  readonly keyOf: (item: Item) => string
  /** Failures after which the remaining items of the key are skipped. */
  readonly maxFailuresPerKey: number
  /** No item is started after it aborts. */
  readonly stopped: AbortSignal
  readonly onFailure: (item: Item, error: unknown) => void
}

/** Failures are counted over all runs of a pool. */
interface WorkerPool<Item> {
  /** Resolves when every started item has ended; never rejects because of an item. */
  run(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void>
}

export const createWorkerPool = <Item>(options: WorkerPoolOptions<Item>): WorkerPool<Item> => {
  const { concurrency, keyOf, maxFailuresPerKey, stopped, onFailure } = options
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
        // All workers share one iterator, so each item is taken once.
        for (const item of queue) {
          if (stopped.aborted) return
          await attempt(item, work)
        }
      }
      await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
    },
  }
}
