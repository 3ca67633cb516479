import type { Hex } from 'viem'
import { sleep } from '../../../../deadline.js'
import type { Block, Receipt, Rpc } from '../../rpc/rpc.js'
import { findReceipt, type ReceiptPolicy } from './findReceipt.js'
import { createReadBlockReceipts } from './readBlockReceipts.js'
import { lowerCase, withRecentBlocks } from './recentBlocks.js'

/** Waits for transactions of one network: one look at each new block serves all who wait. */
export interface ReceiptWatcher {
  /**
   * Resolves with a receipt that satisfies the policy, of the transaction or of one that replaced it, or with null
   * when the signal ends the wait.
   */
  wait(transaction: Hex, policy: ReceiptPolicy, signal: AbortSignal): Promise<Receipt | null>
  /** Whoever waits for a transaction is content with its replacement, too. */
  followReplacement(transaction: Hex, replacement: Hex): void
}

/** All who wait for one transaction. */
interface Watch {
  /** The transaction and what replaced it; one of them at most is ever mined. In lower case. */
  readonly hashes: Set<Hex>
  readonly waiters: Set<Waiter>
  /** The block that was seen to hold it; then every new block may make it deep enough. */
  minedIn: bigint | null
  /** When to ask for it by name, whatever the blocks say: a block can be missed or replaced. */
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
// More new blocks than this at once are not read one by one: asking by name finds what is in them.
const maxBlocksPerLook = 16n
// From so many transactions of one block on, all receipts of the block are the shorter answer.
const minForBlockReceipts = 4

/** Builds the watcher of one network; it looks at the chain only while somebody waits. */
export const createReceiptWatcher = (rpc: Rpc, pollIntervalMs: number): ReceiptWatcher => {
  const readBlockReceipts = createReadBlockReceipts(rpc)
  const watches = new Map<Hex, Watch>()
  /** The newest blocks that were read in one go, oldest first; empty while nobody waits. */
  let recent: readonly Block[] = []
  let isRunning = false
  let wake = new AbortController()

  /** Reads the blocks since the last look; true when there were any. */
  const look = async (): Promise<boolean> => {
    const head = await rpc.getBlock('latest')
    const last = recent.at(-1)
    if (head === null || head.hash === last?.hash) return false
    const from = last === undefined || head.number <= last.number ? head.number : last.number + 1n
    recent = head.number - from < maxBlocksPerLook ? await readBlocks(from, head) : [head]
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

  /** Whether the newest block may have made a transaction deep enough for somebody. */
  const isDeepEnough = ({ minedIn, waiters }: Watch): boolean => {
    const head = recent.at(-1)
    if (minedIn === null || head === undefined) return false
    const depth = head.number - minedIn + 1n
    return [...waiters].some(({ policy }) => depth >= BigInt(policy.confirmations))
  }

  /** The nodes as they were just seen, so that what many ask is asked once. */
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

  /** Asks once for all who demand the same of a receipt. */
  const ask = async (watch: Watch, nodes: Rpc): Promise<void> => {
    watch.askAt = performance.now() + pollAgainMs
    const policies = new Map([...watch.waiters].map(({ policy }) => [nameOf(policy), policy]))
    await Promise.all(
      [...policies].map(async ([name, policy]) => {
        for (const hash of watch.hashes) {
          // A node that fails is asked again.
          const receipt = await findReceipt(nodes, hash, policy).catch(() => null)
          if (receipt === null) continue
          for (const waiter of watch.waiters) if (nameOf(waiter.policy) === name) waiter.resolve(receipt)
          return
        }
      }),
    )
  }

  const run = async (): Promise<void> => {
    // Quick at first, for chains that mine at once; then at the network's own pace.
    let pauseMs = Math.min(firstPauseMs, pollIntervalMs)
    while (watches.size > 0) {
      const woken = wake.signal
      const isNews = await look().catch(() => null)
      const now = performance.now()
      const fresh = [...watches.values()].filter((watch) => isNews === true && isDeepEnough(watch))
      const due = [...watches.values()].filter((watch) => fresh.includes(watch) || watch.askAt <= now)
      if (due.length > 0) {
        // After a look that failed, what was read before it may be out of date.
        const nodes = isNews === null ? rpc : await recall(fresh)
        await Promise.all(due.map((watch) => ask(watch, nodes)))
      }
      if (watches.size === 0) return
      const hasRested = await sleep(pauseMs, woken)
      pauseMs = hasRested && isNews !== true ? pauseMs * pauseGrowth : firstPauseMs
      pauseMs = Math.min(pauseMs, pollIntervalMs)
    }
  }

  /** Ends the pause of the loop, if it is in one. */
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
      // What is old by the time somebody waits again says nothing.
      recent = []
      // Somebody may have come between the last look and now.
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
        // It is mined: nothing new need come for whoever asks only now.
        if (watch.minedIn !== null) watch.askAt = 0
        start()
      }),
  }
}

const nameOf = ({ confirmations, isCrossChecked }: ReceiptPolicy): string =>
  `${confirmations} ${isCrossChecked}`
