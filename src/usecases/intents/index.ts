import { createFailureLog, nameLines } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { IdempotencyStore } from '../../ports/idempotencyStore.js'
import type { IntentStore } from '../../ports/intentStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { createFindTerms } from '../core/describe/completeRequirements.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { type ClaimRules, noClaimRules } from '../core/verify/claimRules.js'
import { noPauses } from '../core/verify/pauses.js'
import { readPage } from '../readPage.js'
import { createChainReadings } from './chainReadings.js'
import { createCreateIntent, createCreateOncePerKey } from './createIntent.js'
import { requireOpen } from './decide.js'
import {
  createExecuteIntent,
  createExpireIntents,
  createFinishIntent,
  createFinishIntents,
} from './executeIntent.js'
import { changeIntent, getOwnIntent, requireControl } from './findIntent.js'
import { createPlanRoutes } from './planRoutes.js'
import { createSelectRoute, createSelectRouteUseCase } from './selectRoute.js'
import type { IntentUseCases } from './useCases.js'
import { viewIntent, viewWithRoutes } from './viewIntent.js'

interface IntentsDependencies {
  readonly store: IntentStore
  readonly journal: Pick<SettlementJournal, 'find' | 'consume'>
  readonly idempotency: IdempotencyStore
  readonly registry: SchemeRegistry
  readonly isServing: (network: string) => boolean
  readonly settleAuthorization: SettleAuthorization
  /** Default: payments carry a signature. */
  readonly claimRules?: ClaimRules
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly clock: Clock
  readonly logger: Logger
  /** Default 3 s. */
  readonly deadlineMs?: number
}

interface Intents {
  readonly useCases: IntentUseCases
  readonly jobs: Readonly<Record<'finishIntents' | 'expireIntents' | 'purgeIntents', Job>>
}

const defaultDeadlineMs = 3_000
const readingsAtOnce = 16
const dayMs = 86_400_000
const paidKeptMs = 90 * dayMs
// Without a key intents cost nothing: what is not paid must not fill the database.
const unpaidKeptMs = dayMs

export const createIntents = (dependencies: IntentsDependencies): Intents => {
  const { store, registry, isServing, clock, logger, deadlineMs = defaultDeadlineMs } = dependencies
  const { claimRules = noClaimRules, findPause = noPauses.find } = dependencies
  const readings = createChainReadings({ clock, deadlineMs, readingsAtOnce })
  const planRoutes = createPlanRoutes({
    registry,
    isServing,
    claimRules,
    findPause,
    readings,
    failures: createFailureLog({
      logger,
      event: 'intents.network_unavailable',
      recovered: 'intents.network_recovered',
    }),
    deadlineMs,
  })
  const findTerms = createFindTerms({
    registry,
    isServing,
    claimRules,
    describeAsset: readings.describeAsset,
  })
  const selectRoute = createSelectRoute({
    store,
    findTerms,
    isAdmitted: async ({ caller }, { scheme: name, network, payTo }) => {
      const scheme = registry.find(name, network)
      return scheme === null || (await claimRules.admitsIntents(scheme, { payTo, caller }))
    },
    findPause,
    clock,
  })
  const finishIntent = createFinishIntent(dependencies)
  return {
    useCases: {
      createIntent: createCreateOncePerKey({
        ...dependencies,
        createIntent: createCreateIntent({ store, planRoutes, clock }),
      }),
      getIntent: async (call) => viewWithRoutes(await getOwnIntent(store, call), clock.now()),
      listIntents: async ({ cursor, limit, ...query }) => {
        const now = clock.now()
        const { items, next } = await readPage(
          limit,
          (count) => store.list({ ...query, limit: count, before: cursor, now }),
          ({ id }) => id,
        )
        return { intents: items.map((intent) => viewIntent(intent, now)), ...next }
      },
      selectRoute: createSelectRouteUseCase({ store, clock, selectRoute }),
      executeIntent: createExecuteIntent({ ...dependencies, selectRoute, finishIntent }),
      cancelIntent: async ({ token, ...call }) => {
        const intent = await getOwnIntent(store, call)
        requireControl(intent, token)
        const { id } = intent
        const now = clock.now()
        return {
          intent: viewIntent(await changeIntent(store, id, { command: { type: 'cancel' }, now }), now),
        }
      },
      refreshIntent: async (call) => {
        const intent = await getOwnIntent(store, call)
        const { id, caller, terms, expiresAt } = intent
        const now = clock.now()
        requireOpen(intent, now)
        const plan = await planRoutes({ caller, terms, expiresAt, now })
        const command = { type: 'refresh', plan } as const
        return viewWithRoutes(await changeIntent(store, id, { command, now: clock.now() }), now)
      },
    },
    jobs: {
      finishIntents: {
        everyMs: 2_000,
        isShared: true,
        needs: 'intents',
        run: createFinishIntents({
          store,
          finishIntent,
          logger: nameLines(logger, { job: 'finishIntents' }),
        }),
      },
      expireIntents: {
        everyMs: 5_000,
        isShared: true,
        needs: 'intents',
        run: createExpireIntents({ store, clock, logger: nameLines(logger, { job: 'expireIntents' }) }),
      },
      purgeIntents: {
        everyMs: 3_600_000,
        isShared: true,
        run: (stopped) => {
          const nowMs = clock.now().getTime()
          const before = { paid: new Date(nowMs - paidKeptMs), unpaid: new Date(nowMs - unpaidKeptMs) }
          return store.purge(before, stopped)
        },
      },
    },
  }
}
