import type { AttemptOutcome } from './webhookOutbox.js'

/** Counts what becomes of attempts to deliver events. */
export interface WebhookCounter {
  /** `waiting`: it failed and will be tried again; `failed`: it will not. */
  countWebhook(outcome: AttemptOutcome['state']): void
}
