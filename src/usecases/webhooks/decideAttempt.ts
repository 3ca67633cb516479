import type { AttemptOutcome } from '../../ports/webhookOutbox.js'
import type { WebhookResponse } from '../../ports/webhookTransport.js'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Delay after each failed attempt: the schedule of Standard Webhooks up to ten hours. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
]

const gone = 410

export const isDelivered = (status: number | null): status is number =>
  status !== null && status >= 200 && status < 300

// Spreads the retries of messages that failed together.
const jitter = 0.1

/** 2xx: delivered. 410: failed and gone. Otherwise retried until the delays are used up. `random`: 0 to 1. */
export const decideAttempt = (
  { status, error }: WebhookResponse,
  attemptsBefore: number,
  random: number,
): AttemptOutcome => {
  if (isDelivered(status)) return { state: 'delivered', status, error: null }
  if (status === gone) return { state: 'failed', status, error: null, isGone: true }
  const delayMs = retryDelaysMs[attemptsBefore]
  return delayMs === undefined
    ? { state: 'failed', status, error, isGone: false }
    : { state: 'waiting', status, error, retryInMs: Math.round(delayMs * (1 + jitter * (2 * random - 1))) }
}
