import { createWorkerPool } from '../../concurrency/workerPool.js'
import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { changeIntent } from './findIntent.js'

/** Ends an executing intent whose settlement has ended in the journal; returns the intent as it is then. */
export type FinishIntent = (intent: Intent) => Promise<Intent>

interface FinishIntentDependencies {
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

const batchSize = 200
const maxBatches = 10
const concurrency = 4
const maxFailures = 10

interface Round {
  readonly list: () => Promise<readonly Intent[]>
  readonly end: (intent: Intent) => Promise<unknown>
  readonly logger: Logger
}

/** Bounded: the next round continues. */
const endAll =
  ({ list, end, logger }: Round): Job['run'] =>
  async (stopped) => {
    const pool = createWorkerPool<Intent>({
      concurrency,
      keyOf: () => 'intents',
      maxFailuresPerKey: maxFailures,
      stopped,
      onFailure: ({ id }, error) => {
        logger.warn({ intentId: id, error }, 'intent.end_failed')
      },
    })
    for (let batch = 0; batch < maxBatches && !stopped.aborted; batch++) {
      const intents = await list()
      await pool.run(intents, async (intent) => {
        await end(intent)
      })
      if (intents.length < batchSize) return
    }
  }

interface FinishIntentsDependencies {
  readonly store: Pick<IntentStore, 'listSettled'>
  readonly finishIntent: FinishIntent
  readonly logger: Logger
}

/** The journal is the truth: after a crash, nothing else knows what became of a payment. */
export const createFinishIntents = ({ store, finishIntent, logger }: FinishIntentsDependencies): Job['run'] =>
  endAll({ list: () => store.listSettled(batchSize), end: finishIntent, logger })

interface ExpireIntentsDependencies {
  readonly store: Pick<IntentStore, 'listOverdue' | 'change'>
  readonly clock: Clock
  readonly logger: Logger
}

export const createExpireIntents = ({ store, clock, logger }: ExpireIntentsDependencies): Job['run'] =>
  endAll({
    list: () => store.listOverdue(clock.now(), batchSize),
    end: ({ id }) => changeIntent(store, id, { command: { type: 'expire' }, now: clock.now() }),
    logger,
  })
