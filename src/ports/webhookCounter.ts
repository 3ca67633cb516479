import type { AttemptOutcome } from './webhookOutbox.js'

export interface WebhookCounter {
  /** `waiting`: failed, retry scheduled; `failed`: no more retries. */
  countWebhook(outcome: AttemptOutcome['state']): void
}
