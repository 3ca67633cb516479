import { sleep } from '../../../deadline.js'
import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { encodeBase58 } from '../encoding/base58.js'
import { judgeStatus, type StatusPolicy } from '../exact/judge.js'
import { type Prepared, withFeePayerSignature } from '../exact/prepare.js'
import type { Rpc } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'
import type { StatusWatcher } from './statusWatcher.js'

/** A payment to be sent now. */
export interface Submission {
  readonly prepared: Prepared
  readonly recorder: Recorder
  readonly waitUntil: AbortSignal
  readonly policy: StatusPolicy
}

/** Signs, records, sends, and waits; throws only before anything was recorded. */
export type Submit = (submission: Submission) => Promise<Outcome>

// A leader forgets what it had no room for: the same bytes are offered again until they are in a block.
const resendMs = 2_000
const pollAgainMs = 100
const firstSendTimeoutMs = 250

/** Builds the submission on one cluster. */
export const createSubmit = (rpc: Rpc, feePayers: FeePayers, statuses: StatusWatcher): Submit => {
  /** Sends at once and every now and then, until the signal; never throws. */
  const keepSending = (bytes: string, until: AbortSignal): { readonly first: Promise<unknown> } => {
    const send = () => rpc.send(bytes).catch(() => false)
    const first = send()
    const goOn = async () => {
      await first
      while (await sleep(resendMs, until)) await send()
    }
    void goOn()
    return { first }
  }

  const waitOnce = async (
    transaction: string,
    until: AbortSignal,
    policy: StatusPolicy,
  ): Promise<Outcome> => {
    const status = await statuses.wait(transaction, until)
    const pending: Outcome = { state: 'pending', transaction }
    if (status === null) return pending
    // A node that fails now may answer the next time, or leaves the question to the reconciler.
    return await judgeStatus(rpc, transaction, status, policy).catch(() => pending)
  }

  return async ({ prepared, recorder, waitUntil, policy }) => {
    const { transaction: payment } = prepared
    const signature = feePayers.sign(payment.keys[0] ?? '', payment.message)
    const transaction = encodeBase58(signature)
    const bytes = withFeePayerSignature(payment, signature)
    await recorder.record({ transaction, bytes })

    const settled = new AbortController()
    const sent = keepSending(bytes, settled.signal)
    try {
      // A transaction that has not arrived is not asked for; nor is a send waited for that is not answered.
      await Promise.race([sent.first, sleep(firstSendTimeoutMs, waitUntil)])
      for (;;) {
        const outcome = await waitOnce(transaction, waitUntil, policy)
        // The block may be known a moment after the status.
        if (outcome.state !== 'pending' || !(await sleep(pollAgainMs, waitUntil))) return outcome
      }
    } finally {
      settled.abort()
    }
  }
}
