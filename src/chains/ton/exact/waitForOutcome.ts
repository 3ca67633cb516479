import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { type CrossCheckDependencies, resolveCrossChecked } from './crossCheck.js'
import type { ResolveQuery } from './resolve.js'

interface WaitDependencies extends CrossCheckDependencies {
  readonly clock: Clock
  readonly pollIntervalMs: number
}

interface SentPayment {
  readonly question: Omit<ResolveQuery, 'now'>
  /** Null when the relay queue resends. */
  readonly resend: (() => void) | null
}

// Nodes drop messages that are not included soon; after this time it is resent.
const resendAfterMs = 4_000

/** Polls until the outcome is proven or the signal aborts; then `pending`. */
export const waitForOutcome = async (
  dependencies: WaitDependencies,
  { question, resend }: SentPayment,
  waitUntil: AbortSignal,
): Promise<Outcome> => {
  let sentAtMs = performance.now()
  while (!waitUntil.aborted) {
    const resolving = resolveCrossChecked(dependencies, { ...question, now: dependencies.clock.now() })
    // After an error the next round decides, and finally the reconciler.
    const resolution = await withSignal(resolving, waitUntil).catch(() => null)
    if (resolution !== null && resolution.outcome.state !== 'pending') return resolution.outcome
    if (resolution?.isWorthSending === true && performance.now() - sentAtMs >= resendAfterMs) {
      sentAtMs = performance.now()
      resend?.()
    }
    await sleep(dependencies.pollIntervalMs, waitUntil)
  }
  return { state: 'pending', transaction: question.transaction }
}
