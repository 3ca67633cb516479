/** How items are batched. */
export interface MicroBatcherOptions<Item> {
  readonly maxItems: number
  /** How many batches may run at once; any number unless stated. */
  readonly maxUnderWay?: number
  /** How long the first item waits for others; unless stated only for those of the same microtask. */
  readonly maxWaitMs?: number
  /** Runs one batch. Must not reject: each item carries its own answer. */
  readonly run: (items: readonly Item[]) => Promise<void>
}

/** Collects items and runs them together. */
export interface MicroBatcher<Item> {
  add(item: Item): void
}

/**
 * Builds a batcher. A batch starts when its wait is over or it is full, and a batch may start; what comes while
 * `maxUnderWay` batches run starts together when one of them ends.
 */
export const createMicroBatcher = <Item>(options: MicroBatcherOptions<Item>): MicroBatcher<Item> => {
  const { maxItems, maxUnderWay = Number.POSITIVE_INFINITY, maxWaitMs = 0, run } = options
  let waiting: Item[] = []
  let underWay = 0
  let timer: NodeJS.Timeout | null = null

  const start = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    while (waiting.length > 0 && underWay < maxUnderWay) {
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      underWay += 1
      void run(batch).finally(() => {
        underWay -= 1
        start()
      })
    }
  }

  return {
    add: (item) => {
      waiting.push(item)
      if (maxWaitMs === 0) queueMicrotask(start)
      else if (waiting.length >= maxItems) start()
      else timer ??= setTimeout(start, maxWaitMs)
    },
  }
}
