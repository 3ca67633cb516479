import { sleep } from '../../../concurrency/deadline.js'
import { toChunks } from '../../../concurrency/microBatcher.js'
import { isDecisive } from '../exact/judge.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Status } from '../rpc/wireShapes.js'

export interface StatusWatcher {
  /** Resolves with a status that decides the outcome, or with null when the signal aborts. */
  wait(transaction: string, until: AbortSignal): Promise<Status | null>
}

interface Waiting {
  readonly transaction: string
  readonly resolve: (status: Status | null) => void
}

// Limit of getSignatureStatuses.
const maxPerRequest = 256

export const createStatusWatcher = (rpc: Rpc, pollIntervalMs: number): StatusWatcher => {
  const waiting = new Set<Waiting>()
  let isPolling = false

  const pollGroup = async (group: readonly Waiting[]): Promise<void> => {
    const statuses = await rpc.getStatuses(group.map(({ transaction }) => transaction))
    for (const [index, waiter] of group.entries()) {
      const status = statuses[index] ?? null
      if (status !== null && isDecisive(status)) waiter.resolve(status)
    }
  }

  const poll = async () => {
    if (isPolling) return
    isPolling = true
    while (waiting.size > 0) {
      const groups = toChunks([...waiting], maxPerRequest)
      // An endpoint that fails is asked again in the next round, until the signal aborts.
      await Promise.all(groups.map((group) => pollGroup(group).catch(() => undefined)))
      if (waiting.size > 0) await sleep(pollIntervalMs)
    }
    isPolling = false
  }

  return {
    wait: (transaction, until) =>
      new Promise((resolve) => {
        const onAbort = () => end(null)
        const end = (status: Status | null) => {
          waiting.delete(entry)
          until.removeEventListener('abort', onAbort)
          resolve(status)
        }
        const entry: Waiting = { transaction, resolve: end }
        if (until.aborted) {
          resolve(null)
          return
        }
        until.addEventListener('abort', onAbort, { once: true })
        waiting.add(entry)
        void poll()
      }),
  }
}
