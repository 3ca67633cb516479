import { sleep } from '../../../concurrency/deadline.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { encodeBase58 } from '../encoding/base58.js'
import { judgeStatus, type StatusPolicy } from '../exact/judge.js'
import { type Prepared, withFeePayerSignature } from '../exact/prepare.js'
import type { Rpc } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'
import type { StatusWatcher } from './statusWatcher.js'

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
