import type { Hex } from 'viem'
import { sleep } from '../../../../concurrency/deadline.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Block, Receipt } from '../../rpc/wireShapes.js'
import { findReceipt, type ReceiptPolicy, withOtherReceipts } from './findReceipt.js'

/** Each new block is read once for all waits. */
export interface ReceiptWatcher {
  /** The receipt of the transaction or its replacement that satisfies the policy; null on abort. */
  wait(transaction: Hex, policy: ReceiptPolicy, signal: AbortSignal): Promise<Receipt | null>
  /** Waits for the transaction then also accept its replacement. */
  followReplacement(transaction: Hex, replacement: Hex): void
  isWaiting(): boolean
}

interface Watch {
  /** The transaction and its replacements, in lower case; at most one is mined. */
  readonly hashes: Set<Hex>
  readonly waiters: Set<Waiter>
  /** Block that includes it; every later block adds a confirmation. */
  minedIn: bigint | null
  /** Time of the next direct request: a block can be missed or orphaned. */
  askAt: number
}

interface Waiter {
  readonly policy: ReceiptPolicy
  readonly resolve: (receipt: Receipt) => void
}

const firstPauseMs = 20
const pauseGrowth = 1.5
const firstPollMs = 200
const pollAgainMs = 1_000
// If there are more new blocks than this, receipts are requested by hash.
const maxBlocksPerRound = 16n
// From this many transactions in one block on, all its receipts are requested at once.
const minForBlockReceipts = 4

/** Polls only while there are waits. */
export const createReceiptWatcher = (rpc: Rpc, pollIntervalMs: number): ReceiptWatcher => {
  const readBlockReceipts = createReadBlockReceipts(rpc)
  const watches = new Map<Hex, Watch>()
  /** The newest blocks, read in one round, oldest first; empty while there are no waits. */
  let recent: readonly Block[] = []
  let isRunning = false
  let wake = new AbortController()

  /** Reads the blocks since the last round; false when there are none. */
  const readNewBlocks = async (): Promise<boolean> => {
    const head = await rpc.getBlock('latest')
    const last = recent.at(-1)
    if (head === null || head.hash === last?.hash) return false
    const from = last === undefined || head.number <= last.number ? head.number : last.number + 1n
    recent = head.number - from < maxBlocksPerRound ? await readBlocks(from, head) : [head]
    for (const watch of watches.values()) findIn(recent, watch)
    return true
  }

  const readBlocks = async (from: bigint, head: Block): Promise<readonly Block[]> => {
    const numbers = Array.from({ length: Number(head.number - from) }, (_, index) => from + BigInt(index))
    const older = await Promise.all(numbers.map((number) => rpc.getBlock(number)))
    return [...older.filter((block) => block !== null), head]
  }

  const findIn = (blocks: readonly Block[], watch: Watch): void => {
    const holder = blocks.find(({ transactions }) =>
      transactions?.some((hash) => watch.hashes.has(lowerCase(hash))),
    )
    if (holder !== undefined) watch.minedIn = holder.number
  }

  /** Whether the newest block may have satisfied the confirmations of a wait. */
  const isDeepEnough = ({ minedIn, waiters }: Watch): boolean => {
    const head = recent.at(-1)
    if (minedIn === null || head === undefined) return false
    const depth = head.number - minedIn + 1n
    return [...waiters].some(({ policy }) => depth >= BigInt(policy.confirmations))
  }

  /** An `Rpc` that serves from the blocks just read, so that many waits cost one request. */
  const recall = async (fresh: readonly Watch[]): Promise<Rpc> => {
    const holders = fresh.flatMap(({ minedIn }) => (minedIn === null ? [] : [minedIn]))
    const full = [...new Set(holders)].filter(
      (number) => holders.filter((each) => each === number).length >= minForBlockReceipts,
    )
    const read = (await Promise.all(full.map(readBlockReceipts))).flat()
    return withRecentBlocks(rpc, {
      blocks: recent,
      receipts: new Map(read.map((receipt) => [lowerCase(receipt.transactionHash), receipt])),
    })
  }

  /** Asks once per policy. */
  const ask = async (watch: Watch, nodes: Rpc): Promise<void> => {
    watch.askAt = performance.now() + pollAgainMs
    const policies = new Map([...watch.waiters].map(({ policy }) => [nameOf(policy), policy]))
    await Promise.all(
      [...policies].map(async ([name, policy]) => {
        for (const hash of watch.hashes) {
          // A failure is retried in a later round.
          const receipt = await findReceipt(nodes, hash, policy).catch(() => null)
          if (receipt === null) continue
          for (const waiter of watch.waiters) if (nameOf(waiter.policy) === name) waiter.resolve(receipt)
          return
        }
      }),
    )
  }

  const run = async (): Promise<void> => {
    // It polls fast at first, for chains that mine on demand; then at the network's poll interval.
    let pauseMs = Math.min(firstPauseMs, pollIntervalMs)
    while (watches.size > 0) {
      const woken = wake.signal
      const hasNewBlock = await readNewBlocks().catch(() => null)
      const now = performance.now()
      const fresh = [...watches.values()].filter((watch) => hasNewBlock === true && isDeepEnough(watch))
      const due = [...watches.values()].filter((watch) => fresh.includes(watch) || watch.askAt <= now)
      if (due.length > 0) {
        // After a failed round, the cached blocks may be outdated.
        const nodes = hasNewBlock === null ? rpc : await recall(fresh)
        const others = withOtherReceipts(nodes)
        // The node that has the block was asked for the receipt before.
        const lacksReceipt = (watch: Watch) => watch.minedIn !== null && !fresh.includes(watch)
        await Promise.all(due.map((watch) => ask(watch, lacksReceipt(watch) ? others : nodes)))
      }
      if (watches.size === 0) return
      const hasSlept = await sleep(pauseMs, woken)
      pauseMs = hasSlept && hasNewBlock !== true ? pauseMs * pauseGrowth : firstPauseMs
      pauseMs = Math.min(pauseMs, pollIntervalMs)
    }
  }

  /** Ends the pause of the loop. */
  const wakeUp = () => {
    wake.abort()
    wake = new AbortController()
  }

  const start = () => {
    wakeUp()
    if (isRunning) return
    isRunning = true
    void run().finally(() => {
      isRunning = false
      // The next wait would find them outdated.
      recent = []
      // A wait may have begun since the last round.
      if (watches.size > 0) start()
    })
  }

  const watchFor = (transaction: Hex): Watch => {
    const known = watches.get(transaction)
    if (known !== undefined) return known
    const watch: Watch = {
      hashes: new Set([lowerCase(transaction)]),
      waiters: new Set(),
      minedIn: null,
      askAt: performance.now() + firstPollMs,
    }
    findIn(recent, watch)
    watches.set(transaction, watch)
    return watch
  }

  return {
    isWaiting: () => watches.size > 0,
    followReplacement: (transaction, replacement) => {
      for (const watch of watches.values()) {
        if (watch.hashes.has(lowerCase(transaction))) watch.hashes.add(lowerCase(replacement))
      }
    },
    wait: (transaction, policy, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(null)
          return
        }
        const watch = watchFor(transaction)
        const end = (receipt: Receipt | null) => {
          watch.waiters.delete(waiter)
          if (watch.waiters.size === 0 && watches.get(transaction) === watch) watches.delete(transaction)
          signal.removeEventListener('abort', onAbort)
          resolve(receipt)
        }
        const onAbort = () => {
          end(null)
          wakeUp()
        }
        const waiter: Waiter = { policy, resolve: end }
        signal.addEventListener('abort', onAbort, { once: true })
        watch.waiters.add(waiter)
        // If it is mined already, there may be no further block.
        if (watch.minedIn !== null) watch.askAt = 0
        start()
      }),
  }
}

const nameOf = ({ confirmations, isCrossChecked }: ReceiptPolicy): string =>
  `${confirmations} ${isCrossChecked}`

interface RecentBlocks {
  /** Oldest first; the last one is the head. */
  readonly blocks: readonly Block[]
  /** By transaction hash, in lower case. */
  readonly receipts: ReadonlyMap<Hex, Receipt>
}

/** Serves from the last read, else requests; a call for one endpoint is always forwarded to it. */
const withRecentBlocks = (rpc: Rpc, { blocks, receipts }: RecentBlocks): Rpc => ({
  ...rpc,
  getBlock: async (at, ...rest) => {
    const known = at === 'latest' ? blocks.at(-1) : blocks.find(({ number }) => number === at)
    return rest.length === 0 && known !== undefined ? known : await rpc.getBlock(at, ...rest)
  },
  getReceipt: async (transaction, endpoint) => {
    const known = endpoint === undefined ? receipts.get(lowerCase(transaction)) : undefined
    return known ?? (await rpc.getReceipt(transaction, endpoint))
  },
})

const lowerCase = (transaction: Hex): Hex => `0x${transaction.slice(2).toLowerCase()}`

/** All receipts of a block in one request; empty when unavailable. */
type ReadBlockReceipts = (at: bigint) => Promise<readonly Receipt[]>

// Not every node has eth_getBlockReceipts; a failure is not repeated for this long.
const pauseMs = 60_000

/** After a failure, receipts are requested one by one. */
const createReadBlockReceipts = (rpc: Pick<Rpc, 'getBlockReceipts'>): ReadBlockReceipts => {
  let askFrom = 0
  return async (at) => {
    if (performance.now() < askFrom) return []
    try {
      return (await rpc.getBlockReceipts(at)) ?? []
    } catch {
      askFrom = performance.now() + pauseMs
      return []
    }
  }
}
