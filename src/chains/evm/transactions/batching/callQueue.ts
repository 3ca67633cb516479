import type { SettlementCall } from '../settlementCall.js'

/** The queue orders calls by deadline, and puts one per id into a batch. */
export interface QueuedCall {
  readonly call: Pick<SettlementCall, 'id' | 'deadline'>
}

interface CallQueue<Item extends QueuedCall> {
  readonly length: number
  add(item: Item): void
  /** False when the item is already being sent. */
  remove(item: Item): boolean
}

interface QueueOptions<Item> {
  readonly maxItems: number
  /** How long a call waits for others. */
  readonly maxWaitMs: () => number
  /** Says that a call waits also when idle. Default: no. */
  readonly waitsWhenIdle?: boolean
  /** Whether a send is possible now; throws when no account can send at all. */
  isReady(): boolean
  /** Resolves when `isReady` may have changed, or after a timeout. */
  whenChanged(): Promise<void>
  /** Never rejects. */
  send(items: readonly Item[]): Promise<void>
  /** Receives all waiting items when `isReady` throws. */
  refuse(items: readonly Item[], error: unknown): void
}

// After a batch of this size, the first call of the next burst waits for the others: alone it would take a transaction.
const burstSize = 8
const burstMemoryMs = 10_000

/** Sends at once when idle; otherwise waits briefly to fill a batch. The earliest deadline goes first. */
export const createCallQueue = <Item extends QueuedCall>(options: QueueOptions<Item>): CallQueue<Item> => {
  const { maxItems, waitsWhenIdle = false } = options
  let waiting: { readonly item: Item; readonly dueAt: number }[] = []
  let inFlight = 0
  let lastBurstAt = Number.NEGATIVE_INFINITY
  let isTaking = false
  let timer: NodeJS.Timeout | undefined

  const takeBatch = (): readonly Item[] => {
    waiting.sort((left, right) => compare(left.item.call.deadline, right.item.call.deadline))
    const ids = new Set<string>()
    const taken: Item[] = []
    waiting = waiting.filter(({ item }) => {
      const { id } = item.call
      if (taken.length >= maxItems || ids.has(id)) return true
      ids.add(id)
      taken.push(item)
      return false
    })
    return taken
  }

  /** Time until the oldest item is due. */
  const remainingMs = (): number =>
    waiting.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY) - performance.now()

  const isDue = (): boolean => {
    if (waiting.length === 0) return false
    return waiting.length >= maxItems || remainingMs() <= 0
  }

  const run = async (): Promise<void> => {
    try {
      // Items may be removed while the queue waits.
      while (waiting.length > 0 && !options.isReady()) await options.whenChanged()
    } catch (error) {
      const refused = waiting.map(({ item }) => item)
      waiting = []
      options.refuse(refused, error)
      return
    }
    const items = takeBatch()
    if (items.length === 0) return
    if (items.length >= burstSize) lastBurstAt = performance.now()
    inFlight += 1
    void options.send(items).finally(() => {
      inFlight -= 1
      void pump()
    })
  }

  const pump = async (): Promise<void> => {
    if (isTaking) return
    isTaking = true
    clearTimeout(timer)
    try {
      // Items that are added in the same tick join the batch.
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
      const now = performance.now()
      const isIdle =
        !waitsWhenIdle && inFlight === 0 && waiting.length === 0 && now - lastBurstAt > burstMemoryMs
      waiting.push({ item, dueAt: now + (isIdle ? 0 : options.maxWaitMs()) })
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
