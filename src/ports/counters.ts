import type { AttemptOutcome } from './webhookOutbox.js'

export interface SettlementCounter {
  /** The block of a confirmed payment was orphaned. */
  countReorged(network: string): void
  /** A payment that was answered `success: true` was lost in a reorg. */
  countLost(network: string): void
}

export interface CreditCounter {
  /** A recount of a wallet did not agree with what the triggers had counted. */
  countCreditRepair(): void
}

export interface WebhookCounter {
  /** `waiting`: failed, retry scheduled; `failed`: no more retries. */
  countWebhook(outcome: AttemptOutcome['state']): void
}
