import type { Hex } from 'viem'
import { sleep } from '../../platform/deadline.js'
import { findReceipt, type ReceiptPolicy } from './receipts.js'
import type { Block, Receipt, Rpc } from './rpc.js'

/** Waits for transactions of one network: one look at each new block serves all who wait. */
export interface ReceiptWatcher {
  /**
   * Resolves with a receipt that satisfies the policy, of the transaction or of one that replaced it, or with null
   * when the signal ends the wait.
   */
  wait(transaction: Hex, policy: ReceiptPolicy, signal: AbortSignal): Promise<Receipt | null>
  /** Whoever waits for a transaction is content with its replacement, too. */
  follow(transaction: Hex, replacement: Hex): void
}

/** All who wait for one transaction. */
interface Watch {
  /** The transaction and what replaced it; one of them at most is ever mined. */
  readonly hashes: Set<Hex>
  readonly waiters: Set<Waiter>
  /** Whether a block that we saw holds it; then every new block may make it deep enough. */
  isMined: boolean
  /** When to ask for it by name, whatever the blocks say: a block can be missed or replaced. */
  askAt: number
}

interface Waiter {
  readonly policy: ReceiptPolicy
  readonly resolve: (receipt: Receipt) => void
}

const firstPauseMs = 20
const pauseGrowth = 1.5
const askAgainMs = 1_000
// More new blocks than this at once are not read one by one: asking by name finds what is in them.
const maxBlocksPerLook = 16n

/** Builds the watcher of one network; it looks at the chain only while somebody waits. */
export const createReceiptWatcher = (rpc: Rpc, pollIntervalMs: number): ReceiptWatcher => {
  const watches = new Map<Hex, Watch>()
  let lastSeen: bigint | null = null
  let isRunning = false
  let wake = new AbortController()

  /** Marks what is in the blocks since the last look; true when there were any. */
  const look = async (): Promise<boolean> => {
    const head = await rpc.getBlock('latest')
    if (head === null || head.number === lastSeen) return false
    const from = lastSeen === null || head.number < lastSeen ? head.number : lastSeen + 1n
    const blocks = head.number - from < maxBlocksPerLook ? await readBlocks(from, head) : [head]
    const mined = new Set(blocks.flatMap(({ transactions }) => transactions ?? []))
    for (const watch of watches.values()) {
      if ([...watch.hashes].some((hash) => mined.has(hash))) watch.isMined = true
    }
    lastSeen = head.number
    return true
  }

  const readBlocks = async (from: bigint, head: Block): Promise<readonly Block[]> => {
    const numbers = Array.from({ length: Number(head.number - from) }, (_, index) => from + BigInt(index))
    const older = await Promise.all(numbers.map((number) => rpc.getBlock(number)))
    return [...older.filter((block) => block !== null), head]
  }

  /** Asks once for all who demand the same of a receipt. */
  const ask = async (watch: Watch): Promise<void> => {
    watch.askAt = performance.now() + askAgainMs
    const policies = new Map([...watch.waiters].map(({ policy }) => [nameOf(policy), policy]))
    await Promise.all(
      [...policies].map(async ([name, policy]) => {
        for (const hash of watch.hashes) {
          // A node that fails is asked again.
          const receipt = await findReceipt(rpc, hash, policy).catch(() => null)
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
      const isNews = await look().catch(() => false)
      const now = performance.now()
      const due = [...watches.values()].filter(({ isMined, askAt }) => (isMined && isNews) || askAt <= now)
      await Promise.all(due.map(ask))
      if (watches.size === 0) return
      const hasRested = await sleep(pauseMs, woken)
      pauseMs = hasRested && !isNews ? pauseMs * pauseGrowth : firstPauseMs
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
      // Somebody may have come between the last look and now.
      if (watches.size > 0) start()
    })
  }

  const watchFor = (transaction: Hex): Watch => {
    const known = watches.get(transaction)
    if (known !== undefined) return known
    const watch: Watch = { hashes: new Set([transaction]), waiters: new Set(), isMined: false, askAt: 0 }
    watches.set(transaction, watch)
    return watch
  }

  return {
    follow: (transaction, replacement) => {
      for (const watch of watches.values()) {
        if (watch.hashes.has(transaction)) watch.hashes.add(replacement)
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
        watch.askAt = 0
        start()
      }),
  }
}

const nameOf = ({ confirmations, isCrossChecked }: ReceiptPolicy): string =>
  `${confirmations} ${isCrossChecked}`
