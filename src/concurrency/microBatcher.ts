/** How items are batched. */
export interface MicroBatcherOptions<Item> {
  /** Read before every batch, so that it may adapt; at least 1. */
  readonly maxItems: () => number
  /** How many batches may run at once; any number unless stated. */
  readonly maxInFlight?: number
  /** How long the first item waits for others while a batch runs; 0 unless stated. */
  readonly maxWaitMs?: number
  /** Runs one batch. Must not reject: each item carries its own response. */
  readonly run: (items: readonly Item[]) => Promise<void>
}

/** Collects items and runs them together. */
interface MicroBatcher<Item> {
  add(item: Item): void
}

/**
 * A batch starts at the end of the event loop's turn when no other runs, else when it is full, has waited long enough,
 * or the last of the others ends. With `maxInFlight` batches running, items wait until one ends.
 */
export const createMicroBatcher = <Item>(options: MicroBatcherOptions<Item>): MicroBatcher<Item> => {
  const { maxItems, maxInFlight = Number.POSITIVE_INFINITY, maxWaitMs = 0, run } = options
  let waiting: Item[] = []
  let inFlight = 0
  let timer: NodeJS.Timeout | null = null
  let isScheduled = false

  const start = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    while (waiting.length > 0 && inFlight < maxInFlight) {
      const size = maxItems()
      const batch = waiting.slice(0, size)
      waiting = waiting.slice(size)
      inFlight += 1
      void run(batch).finally(() => {
        inFlight -= 1
        if (inFlight === 0 || timer === null) start()
      })
    }
  }

  const startAtEndOfTurn = (): void => {
    if (isScheduled) return
    isScheduled = true
    // After all I/O callbacks of this turn, so that their items join the batch.
    setImmediate(() => {
      isScheduled = false
      start()
    })
  }

  return {
    add: (item) => {
      waiting.push(item)
      if (waiting.length >= maxItems()) start()
      else if (inFlight === 0 || maxWaitMs === 0) startAtEndOfTurn()
      else timer ??= setTimeout(start, maxWaitMs)
    },
  }
}

/** Consecutive slices of at most `size` items. */
export const toChunks = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
