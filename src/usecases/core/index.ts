import type { PaymentExtension } from '../../extensions/extension.js'
import { paymentIdentifierExtension } from '../../extensions/paymentIdentifier.js'
import { nameLines } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Holds } from '../../ports/holds.js'
import type { IdempotencyStore } from '../../ports/idempotencyStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import type { Quotas } from '../../ports/quotas.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { UniqueAmounts } from '../../ports/recipients.js'
import type { BroadcastRetention, ConfirmedBlocks, SettlementJournal } from '../../ports/settlementJournal.js'
import type { OpenCount, SettlementCounter, SettlementOverview } from '../../ports/settlementOverview.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { createCompleteAccepts, createPriceAccepts } from './describe/accepts.js'
import { createFindTerms } from './describe/completeRequirements.js'
import { createGetSettlement, createListSettlements } from './describe/listSettlements.js'
import { createFindRouter, createListNetworks, createListSupported } from './describe/listSupported.js'
import { createOffers } from './describe/offers.js'
import { createExplainPayment } from './explain/explainPayment.js'
import { createListReasons } from './explain/listReasons.js'
import {
  type ConcurrencyLimitSettings,
  createConcurrencyLimits,
  createQuotaGate,
  createSpendingLimits,
  type QuotaGate,
  type SpendingLimitSettings,
  type SpendingLimits,
} from './limits.js'
import { createPaymentExtensions } from './paymentExtensions.js'
import { createDetectReorgs } from './recover/detectReorgs.js'
import { createReconcileSettlements } from './recover/reconcileSettlements.js'
import { createSettleAuthorization, type SettleAuthorization } from './settle/settleAuthorization.js'
import type { StartSettleWait } from './settle/settlementContext.js'
import { createSettlePayment } from './settle/settlePayment.js'
import type { CoreUseCases, ServiceDescription } from './useCases.js'
import type { ClaimRules } from './verify/claimRules.js'
import type { HoldBinding } from './verify/holdBinding.js'
import {
  createHoldAuthorization,
  createHoldFunds,
  createIsHeld,
  createPreviewHold,
  type HoldAuthorization,
} from './verify/holdFunds.js'
import { createPauseGate, noPauses } from './verify/pauses.js'
import type { FindStreamed } from './verify/streamedChannels.js'
import { createVerifyPayment } from './verify/verifyPayment.js'

interface CoreSettings {
  readonly settleWaitMs: number
  readonly verifyDeadlineMs: number
  readonly spending: SpendingLimitSettings
  readonly concurrency: ConcurrencyLimitSettings
  /** How long the signed transactions of final settlements are kept; null: never deleted. */
  readonly keepBroadcastsMs: number | null
}

interface CoreDependencies {
  readonly settings: CoreSettings
  readonly service: Omit<ServiceDescription, 'limitations'>
  readonly listLimitations: () => ServiceDescription['limitations']
  readonly registry: SchemeRegistry
  readonly isServing: (network: string) => boolean
  readonly checkReadiness: CoreUseCases['checkReadiness']
  /** Beside those that the core has itself. */
  readonly extensions: readonly PaymentExtension[]
  readonly journal: SettlementJournal
  readonly confirmedBlocks: ConfirmedBlocks
  readonly broadcastRetention: BroadcastRetention
  readonly overview: SettlementOverview
  readonly idempotency: IdempotencyStore
  readonly quotas: Quotas
  readonly holds: Holds
  readonly claimRules: ClaimRules
  readonly holdBinding: HoldBinding
  readonly findStreamed: FindStreamed
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly uniqueAmounts: UniqueAmounts
  readonly limiter: RateLimiter
  readonly counter: SettlementCounter & { setOpenSettlements(counts: readonly OpenCount[]): void }
  readonly clock: Clock
  readonly logger: Logger
  readonly startSettleWait?: StartSettleWait
  readonly stateDeadlineMs?: number
  readonly journalDeadlineMs?: number
}

export interface Core {
  readonly useCases: CoreUseCases
  readonly jobs: Readonly<
    Record<
      | 'reconcileSettlements'
      | 'detectReorgs'
      | 'measureOpenSettlements'
      | 'purgeIdempotencyKeys'
      | 'purgeHolds'
      | 'purgeUniqueAmounts'
      | 'dropBroadcasts',
      Job
    >
  >
  readonly settleAuthorization: SettleAuthorization
  readonly holdAuthorization: HoldAuthorization
  readonly quotaGate: QuotaGate
  /** For what is settled later with `isAdmitted`. */
  readonly spendingLimits: SpendingLimits
  /** Resolves at once what the jobs would resolve over time; for clocks that jump. */
  catchUp(stopped: AbortSignal): Promise<void>
}

const resolveDeadlineMs = 15_000

export const createCore = (dependencies: CoreDependencies): Core => {
  const { settings, service, registry, journal, overview, idempotency, limiter, counter } = dependencies
  const { holds, findPause = noPauses.find, isServing, clock, logger } = dependencies
  const pauses = createPauseGate(findPause, holds)
  const holdFunds = createHoldFunds({ holds, clock })
  const spendingLimits = createSpendingLimits(limiter, clock, settings.spending)
  const settleAuthorization = createSettleAuthorization({
    ...dependencies,
    holdFunds,
    isHeld: createIsHeld(holds),
    pauses,
    limits: spendingLimits,
    concurrency: createConcurrencyLimits(settings.concurrency),
    waitMs: settings.settleWaitMs,
    ...(dependencies.startSettleWait === undefined ? {} : { startWait: dependencies.startSettleWait }),
  })
  const extensions = createPaymentExtensions([paymentIdentifierExtension, ...dependencies.extensions], logger)
  const findTerms = createFindTerms(dependencies)
  const offers = createOffers(dependencies)
  const resolverDependencies = { registry, journal, counter, clock, deadlineMs: resolveDeadlineMs }
  const reconcileSettlements = createReconcileSettlements({
    ...resolverDependencies,
    limits: spendingLimits,
    logger: nameLines(logger, { job: 'reconcileSettlements' }),
  })
  const reorgDependencies = {
    ...resolverDependencies,
    blocks: dependencies.confirmedBlocks,
    logger: nameLines(logger, { job: 'detectReorgs' }),
  }
  const quotaGate = createQuotaGate(dependencies)
  return {
    settleAuthorization,
    holdAuthorization: createHoldAuthorization({ registry, journal, holdFunds }),
    quotaGate,
    spendingLimits,
    catchUp: async (stopped) => {
      await reconcileSettlements(stopped)
      // A new one has checked no block yet; an orphaned block counts once two rounds find it so.
      const detectReorgs = createDetectReorgs(reorgDependencies)
      await detectReorgs(stopped)
      await detectReorgs(stopped)
      await reconcileSettlements(stopped)
    },
    useCases: {
      verifyPayment: createVerifyPayment({
        ...dependencies,
        quotaGate,
        holdFunds,
        pauses,
        extensions,
        deadlineMs: settings.verifyDeadlineMs,
      }),
      explainPayment: createExplainPayment({
        ...dependencies,
        previewHold: createPreviewHold(dependencies),
        extensions,
        deadlineMs: settings.verifyDeadlineMs,
      }),
      listReasons: createListReasons(),
      settlePayment: createSettlePayment({ idempotency, settleAuthorization, extensions, logger }),
      ...createGetSettlement(journal),
      listSettlements: createListSettlements(dependencies),
      listSupported: createListSupported(
        registry,
        (network, scheme) => isServing(network) && findPause({ network, scheme }) === null,
        extensions.keys,
      ),
      listNetworks: createListNetworks(registry),
      findRouter: createFindRouter(registry),
      completeAccepts: createCompleteAccepts(findTerms, offers),
      priceAccepts: createPriceAccepts(findTerms, offers),
      checkReadiness: dependencies.checkReadiness,
      describeService: () => ({ ...service, limitations: dependencies.listLimitations() }),
    },
    jobs: {
      reconcileSettlements: {
        everyMs: 2_000,
        isShared: true,
        needs: 'openSettlements',
        run: reconcileSettlements,
      },
      detectReorgs: {
        everyMs: 4_000,
        isShared: true,
        needs: 'unfinalSettlements',
        run: createDetectReorgs(reorgDependencies),
      },
      measureOpenSettlements: {
        everyMs: 5_000,
        needs: 'openSettlements',
        run: async () => counter.setOpenSettlements(await overview.countOpen()),
      },
      purgeIdempotencyKeys: { everyMs: 3_600_000, isShared: true, run: idempotency.purge },
      purgeUniqueAmounts: { everyMs: 600_000, isShared: true, run: dependencies.uniqueAmounts.purge },
      purgeHolds: { everyMs: 600_000, isShared: true, run: holds.purge },
      dropBroadcasts: {
        everyMs: 600_000,
        isShared: true,
        run: (stopped) => dropBroadcasts(dependencies, stopped),
      },
    },
  }
}

/** Drops signed transactions that no reorg and no resend can need any more; one bounded round. */
const dropBroadcasts = async (
  { broadcastRetention, settings, clock, logger }: CoreDependencies,
  stopped: AbortSignal,
): Promise<void> => {
  if (settings.keepBroadcastsMs === null) return
  const before = new Date(clock.now().getTime() - settings.keepBroadcastsMs)
  const { dropped, isDone } = await broadcastRetention.dropClosedBefore(before, stopped)
  if (dropped > 0) logger.info({ dropped, before: before.toISOString(), isDone }, 'broadcasts.dropped')
}
