import { sleep } from '../../../deadline.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Status } from '../rpc/wireShapes.js'

/** Waits for transactions to be confirmed; all that are waited for share one question. */
export interface StatusWatcher {
  /** The status once it is confirmed or final; null when the signal ended the wait. */
  wait(transaction: string, until: AbortSignal): Promise<Status | null>
}

interface Waiting {
  readonly transaction: string
  readonly resolve: (status: Status | null) => void
}

// What `getSignatureStatuses` takes at once.
const maxPerRequest = 256

/** Whether a block with this status is voted for by more than two thirds of the stake. */
export const isConfirmed = ({ confirmationStatus }: Status): boolean =>
  confirmationStatus === 'confirmed' || confirmationStatus === 'finalized'

/** Builds the watcher of one cluster; it asks only while somebody waits. */
export const createStatusWatcher = (rpc: Rpc, pollIntervalMs: number): StatusWatcher => {
  const waiting = new Set<Waiting>()
  let isAsking = false

  const askFor = async (some: readonly Waiting[]): Promise<void> => {
    const statuses = await rpc.getStatuses(some.map(({ transaction }) => transaction))
    for (const [index, each] of some.entries()) {
      const status = statuses[index] ?? null
      if (status !== null && isConfirmed(status)) each.resolve(status)
    }
  }

  const ask = async () => {
    if (isAsking) return
    isAsking = true
    while (waiting.size > 0) {
      const all = [...waiting]
      const groups = Array.from({ length: Math.ceil(all.length / maxPerRequest) }, (_, index) =>
        all.slice(index * maxPerRequest, (index + 1) * maxPerRequest),
      )
      // A node that fails now may answer the next time; how long that may take is for those who wait.
      await Promise.all(groups.map((group) => askFor(group).catch(() => undefined)))
      if (waiting.size > 0) await sleep(pollIntervalMs)
    }
    isAsking = false
  }

  return {
    wait: (transaction, until) =>
      new Promise((resolve) => {
        const onAbort = () => end(null)
        const end = (status: Status | null) => {
          waiting.delete(one)
          until.removeEventListener('abort', onAbort)
          resolve(status)
        }
        const one: Waiting = { transaction, resolve: end }
        if (until.aborted) {
          resolve(null)
          return
        }
        until.addEventListener('abort', onAbort, { once: true })
        waiting.add(one)
        void ask()
      }),
  }
}
