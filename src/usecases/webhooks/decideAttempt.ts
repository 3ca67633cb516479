import type { AttemptOutcome } from '../../ports/webhookOutbox.js'
import type { WebhookAnswer } from '../../ports/webhookTransport.js'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long after each attempt that failed the next one comes: Standard Webhooks' proposal up to ten hours. */
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

/** Whether a receiver took a message: any status of 2xx, and no other. */
export const isDelivered = (status: number | null): status is number =>
  status !== null && status >= 200 && status < 300

/** What follows from an answer, after so many attempts before this one. */
export const decideAttempt = ({ status, error }: WebhookAnswer, attemptsBefore: number): AttemptOutcome => {
  if (isDelivered(status)) return { state: 'delivered', status, error: null }
  if (status === gone) return { state: 'failed', status, error: null, isGone: true }
  const retryInMs = retryDelaysMs[attemptsBefore]
  return retryInMs === undefined
    ? { state: 'failed', status, error, isGone: false }
    : { state: 'waiting', status, error, retryInMs }
}
