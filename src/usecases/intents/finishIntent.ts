import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { changeIntent } from './findIntent.js'

/** Ends an executing intent whose settlement has ended in the journal; returns the intent as it is then. */
export type FinishIntent = (intent: Intent) => Promise<Intent>

export interface FinishIntentDependencies {
  readonly store: Pick<IntentStore, 'change'>
  readonly journal: Pick<SettlementJournal, 'find' | 'consume'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Fingerprint and consumer of every settlement of the intent. */
export const consumerOf = ({ id }: Pick<Intent, 'id'>): string => `intent:${id}`

export const createFinishIntent =
  ({ store, journal, clock, logger }: FinishIntentDependencies): FinishIntent =>
  async (intent) => {
    if (intent.status !== 'executing' || intent.payment === null) return intent
    const settlement = await journal.find(intent.payment.settlementId)
    if (settlement === null || settlement.state === 'claimed' || settlement.state === 'pending') return intent
    // The one success of the authorization is the intent's, also if its block is orphaned and another one confirms it.
    if (settlement.state === 'confirmed' && !(await journal.consume(settlement.id, consumerOf(intent)))) {
      logger.error({ intentId: intent.id, settlementId: settlement.id }, 'intent.success_taken')
      return intent
    }
    const command = { type: 'finish', settlement } as const
    const finished = await changeIntent(store, intent.id, { command, now: clock.now() })
    if (finished.status !== intent.status) {
      const { status } = finished
      logger.info({ intentId: intent.id, settlementId: settlement.id, status }, 'intent.finished')
    }
    return finished
  }
