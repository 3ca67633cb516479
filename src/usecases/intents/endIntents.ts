import { createWorkerPool } from '../../concurrency/workerPool.js'
import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import { changeIntent } from './findIntent.js'
import type { FinishIntent } from './finishIntent.js'

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

export interface FinishIntentsDependencies {
  readonly store: Pick<IntentStore, 'listSettled'>
  readonly finishIntent: FinishIntent
  readonly logger: Logger
}

/** The journal is the truth: after a crash, nothing else knows what became of a payment. */
export const createFinishIntents = ({ store, finishIntent, logger }: FinishIntentsDependencies): Job['run'] =>
  endAll({ list: () => store.listSettled(batchSize), end: finishIntent, logger })

export interface ExpireIntentsDependencies {
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
