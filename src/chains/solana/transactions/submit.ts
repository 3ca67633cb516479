import { sleep } from '../../../concurrency/deadline.js'
import { toChunks } from '../../../concurrency/microBatcher.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { encodeBase58 } from '../../common/base58.js'
import { type Prepared, withFeePayerSignature } from '../exact/prepare.js'
import { isDecisive, judgeStatus, type StatusPolicy } from '../exact/resolve.js'
import type { Rpc, Status } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'

interface Submission {
  readonly prepared: Prepared
  readonly recorder: Recorder
  readonly waitUntil: AbortSignal
  readonly policy: StatusPolicy
}

/** Signs, records, sends, and waits for the outcome. Throws only before the transaction is recorded. */
export type Submit = (submission: Submission) => Promise<Outcome>

// Leaders drop what does not fit into their blocks, so the same bytes are sent again.
const resendMs = 2_000
const pollAgainMs = 100
const firstSendTimeoutMs = 250

/** Submits payments on one cluster. */
export const createSubmit = (rpc: Rpc, feePayers: FeePayers, statuses: StatusWatcher): Submit => {
  /** Sends now and every 2 s until the signal aborts; never throws. */
  const resendUntil = (bytes: string, until: AbortSignal): { readonly first: Promise<unknown> } => {
    const send = () => rpc.send(bytes).catch(() => false)
    const first = send()
    const repeat = async () => {
      await first
      while (await sleep(resendMs, until)) await send()
    }
    void repeat()
    return { first }
  }

  const waitForStatus = async (
    transaction: string,
    until: AbortSignal,
    policy: StatusPolicy,
  ): Promise<Outcome> => {
    const status = await statuses.wait(transaction, until)
    const pending: Outcome = { state: 'pending', transaction }
    if (status === null) return pending
    // After an error the reconciler decides.
    return await judgeStatus(rpc, transaction, status, policy).catch(() => pending)
  }

  return async ({ prepared, recorder, waitUntil, policy }) => {
    const { transaction: payment } = prepared
    const signature = feePayers.sign(payment.keys[0] ?? '', payment.message)
    const transaction = encodeBase58(signature)
    const bytes = withFeePayerSignature(payment, signature)
    await recorder.record({ transaction, bytes })

    const settled = new AbortController()
    const sent = resendUntil(bytes, settled.signal)
    try {
      // Bounds the wait for a slow send response before polling starts.
      await Promise.race([sent.first, sleep(firstSendTimeoutMs, waitUntil)])
      for (;;) {
        const outcome = await waitForStatus(transaction, waitUntil, policy)
        // getBlock may lag behind the status.
        if (outcome.state !== 'pending' || !(await sleep(pollAgainMs, waitUntil))) return outcome
      }
    } finally {
      settled.abort()
    }
  }
}

interface StatusWatcher {
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
