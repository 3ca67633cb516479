/** Something that waits to be sent. */
export interface QueuedCall {
  /** The authorization: the same one never travels twice in one transaction. */
  readonly key: string
  /** Who waits shortest goes first, in Unix seconds. */
  readonly validBefore: bigint
}

/** What gathers payments until a transaction is sent. */
export interface CallQueue<Item extends QueuedCall> {
  readonly length: number
  add(item: Item): void
  /** False when the item is no longer waiting: then it is being sent. */
  remove(item: Item): boolean
}

/** How a queue gathers. */
export interface QueueOptions<Item> {
  readonly maxItems: number
  readonly maxWaitMs: number
  /** Whether something can be sent now; throws when nothing can be sent at all. */
  isReady(): boolean
  /** Resolves when it may have become ready, or soon. */
  whenChanged(): Promise<void>
  /** Sends; never rejects. */
  send(items: readonly Item[]): Promise<void>
  /** Tells who waits that nothing can be sent. */
  refuse(items: readonly Item[], error: unknown): void
}

/**
 * Gathers what waits together. Who comes while nothing is under way goes at once; who comes behind others is seldom
 * the last, and waits for company until enough have come or the first of them has waited long enough.
 */
export const createCallQueue = <Item extends QueuedCall>(options: QueueOptions<Item>): CallQueue<Item> => {
  const { maxItems, maxWaitMs } = options
  let waiting: { readonly item: Item; readonly dueAt: number }[] = []
  let underWay = 0
  let isTaking = false
  let timer: NodeJS.Timeout | undefined

  /** The next batch: those whose authorization ends first, none twice. */
  const take = (): readonly Item[] => {
    waiting.sort((left, right) => compare(left.item.validBefore, right.item.validBefore))
    const keys = new Set<string>()
    const taken: Item[] = []
    waiting = waiting.filter(({ item }) => {
      if (taken.length >= maxItems || keys.has(item.key)) return true
      keys.add(item.key)
      taken.push(item)
      return false
    })
    return taken
  }

  /** How much longer the first may be kept waiting. */
  const remainingMs = (): number =>
    waiting.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY) - performance.now()

  const isDue = (): boolean => {
    if (waiting.length === 0) return false
    return waiting.length >= maxItems || remainingMs() <= 0
  }

  const run = async (): Promise<void> => {
    try {
      // Who waits may give up meanwhile; for nobody there is nothing to wait for.
      while (waiting.length > 0 && !options.isReady()) await options.whenChanged()
    } catch (error) {
      const refused = waiting.map(({ item }) => item)
      waiting = []
      options.refuse(refused, error)
      return
    }
    const items = take()
    if (items.length === 0) return
    underWay += 1
    void options.send(items).finally(() => {
      underWay -= 1
      void pump()
    })
  }

  const pump = async (): Promise<void> => {
    if (isTaking) return
    isTaking = true
    clearTimeout(timer)
    try {
      // Whoever comes in the same moment comes along.
      await Promise.resolve()
      while (isDue()) await run()
    } finally {
      isTaking = false
    }
    if (waiting.length > 0) timer = setTimeout(() => void pump(), Math.max(1, remainingMs()))
  }

  return {
    get length() {
      return waiting.length
    },
    add: (item) => {
      const isIdle = underWay === 0 && waiting.length === 0
      waiting.push({ item, dueAt: performance.now() + (isIdle ? 0 : maxWaitMs) })
      void pump()
    },
    remove: (item) => {
      const before = waiting.length
      waiting = waiting.filter((each) => each.item !== item)
      return waiting.length < before
    },
  }
}

const compare = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0)
