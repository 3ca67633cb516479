import type { Hex } from 'viem'
import { sleep } from '../../platform/deadline.js'
import { findReceipt, type ReceiptPolicy } from './receipts.js'
import type { Block, Receipt, Rpc } from './rpc.js'

/** Waits for transactions of one network: one look at each new block serves all who wait. */
export interface ReceiptWatcher {
  /** Resolves with a receipt that satisfies the policy, or with null when the signal ends the wait. */
  wait(transaction: Hex, policy: ReceiptPolicy, signal: AbortSignal): Promise<Receipt | null>
}

interface Waiter {
  readonly transaction: Hex
  readonly policy: ReceiptPolicy
  readonly resolve: (receipt: Receipt) => void
  /** Whether a block that we saw holds it; then every new block may make it deep enough. */
  isMined: boolean
  /** When to ask for it by name, whatever the blocks say: a block can be missed or replaced. */
  askAt: number
}

const firstPauseMs = 20
const pauseGrowth = 1.5
const askAgainMs = 1_000
// More new blocks than this at once are not read one by one: asking by name finds what is in them.
const maxBlocksPerLook = 16n

/** Builds the watcher of one network; it looks at the chain only while somebody waits. */
export const createReceiptWatcher = (rpc: Rpc, pollIntervalMs: number): ReceiptWatcher => {
  const waiters = new Set<Waiter>()
  let lastSeen: bigint | null = null
  let isRunning = false
  let wake = new AbortController()

  /** Marks who is in the blocks since the last look; true when there were any. */
  const look = async (): Promise<boolean> => {
    const head = await rpc.getBlock('latest')
    if (head === null || head.number === lastSeen) return false
    const from = lastSeen === null || head.number < lastSeen ? head.number : lastSeen + 1n
    const blocks = head.number - from < maxBlocksPerLook ? await readBlocks(from, head) : [head]
    const mined = new Set(blocks.flatMap(({ transactions }) => transactions ?? []))
    for (const waiter of waiters) {
      if (mined.has(waiter.transaction)) waiter.isMined = true
    }
    lastSeen = head.number
    return true
  }

  const readBlocks = async (from: bigint, head: Block): Promise<readonly Block[]> => {
    const numbers = Array.from({ length: Number(head.number - from) }, (_, index) => from + BigInt(index))
    const older = await Promise.all(numbers.map((number) => rpc.getBlock(number)))
    return [...older.filter((block) => block !== null), head]
  }

  const ask = async (waiter: Waiter): Promise<void> => {
    waiter.askAt = performance.now() + askAgainMs
    // A node that fails is asked again.
    const receipt = await findReceipt(rpc, waiter.transaction, waiter.policy).catch(() => null)
    if (receipt !== null) waiter.resolve(receipt)
  }

  const run = async (): Promise<void> => {
    // Quick at first, for chains that mine at once; then at the network's own pace.
    let pauseMs = Math.min(firstPauseMs, pollIntervalMs)
    while (waiters.size > 0) {
      const woken = wake.signal
      const isNews = await look().catch(() => false)
      const now = performance.now()
      const due = [...waiters].filter(({ isMined, askAt }) => (isMined && isNews) || askAt <= now)
      await Promise.all(due.map(ask))
      if (waiters.size === 0) return
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
      if (waiters.size > 0) start()
    })
  }

  return {
    wait: (transaction, policy, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(null)
          return
        }
        const end = (receipt: Receipt | null) => {
          waiters.delete(waiter)
          signal.removeEventListener('abort', onAbort)
          resolve(receipt)
        }
        const onAbort = () => {
          end(null)
          wakeUp()
        }
        const waiter: Waiter = { transaction, policy, resolve: end, isMined: false, askAt: 0 }
        signal.addEventListener('abort', onAbort, { once: true })
        waiters.add(waiter)
        start()
      }),
  }
}
