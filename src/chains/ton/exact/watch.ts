import { sleep, withSignal } from '../../../deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { ResolveQuery } from './resolve.js'
import { resolveByWitnesses, type WitnessDependencies } from './witnesses.js'

/** What watching needs. */
export interface WatchDependencies extends WitnessDependencies {
  readonly clock: Clock
  readonly pollIntervalMs: number
}

/** A payment that was sent. */
export interface WatchedPayment {
  readonly question: Omit<ResolveQuery, 'now'>
  /** Sends its bytes again; null where others see to that. */
  readonly resend: (() => void) | null
}

// Nodes pass a message on and forget it; one that did not reach a block by then is sent again.
const resendAfterMs = 4_000

/** Asks what became of a payment until it is proven, or until nobody waits any more. */
export const watchPayment = async (
  dependencies: WatchDependencies,
  { question, resend }: WatchedPayment,
  waitUntil: AbortSignal,
): Promise<Outcome> => {
  let sentAtMs = performance.now()
  while (!waitUntil.aborted) {
    const asked = resolveByWitnesses(dependencies, { ...question, now: dependencies.clock.now() })
    // A node that fails now leaves the question to the next round, and in the end to the reconciler.
    const found = await withSignal(asked, waitUntil).catch(() => null)
    if (found !== null && found.outcome.state !== 'pending') return found.outcome
    if (found?.isWorthSending === true && performance.now() - sentAtMs >= resendAfterMs) {
      sentAtMs = performance.now()
      resend?.()
    }
    await sleep(dependencies.pollIntervalMs, waitUntil)
  }
  return { state: 'pending', transaction: question.transaction }
}
