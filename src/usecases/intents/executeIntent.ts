import { createWorkerPool } from '../../concurrency/workerPool.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore, SelectedRoute } from '../../ports/intentStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { ExecutedIntent } from '../../protocol/intents.js'
import type { Payment, RefusedPayment } from '../../protocol/payment.js'
import { isRefused, readPayment } from '../../protocol/readPayment.js'
import { describeReason, readReason } from '../../protocol/reasons.js'
import type { SettleResult } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Authorized, Refusal } from '../../schemes/scheme.js'
import { isSameText } from '../../schemes/spelling.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { findScheme } from '../core/verify/checkRequirements.js'
import { decide, findPaidBefore, requireUnended } from './decide.js'
import { changeIntent, getOwnIntent } from './findIntent.js'
import type { SelectRoute } from './selectRoute.js'
import type { ExecuteRequest, IntentCall, IntentUseCases } from './useCases.js'
import { viewIntent } from './viewIntent.js'

interface ExecuteIntentDependencies {
  readonly store: IntentStore
  readonly registry: SchemeRegistry
  readonly settleAuthorization: SettleAuthorization
  readonly selectRoute: SelectRoute
  readonly finishIntent: FinishIntent
  readonly clock: Clock
}

/**
 * Block times may be early by this much. Hashes are public: a transfer made before the intent may have paid for
 * something else.
 */
const clockToleranceMs = 60_000

/**
 * The intent is bound to a settlement after the claim and before anything is sent: one that is not bound was not paid,
 * and of the settlements of an intent only the bound one can send.
 */
export const createExecuteIntent = ({
  store,
  registry,
  settleAuthorization,
  selectRoute,
  finishIntent,
  clock,
}: ExecuteIntentDependencies): IntentUseCases['executeIntent'] => {
  const settle = (intent: Intent, selected: SelectedRoute, attempt: Attempt): Promise<SettleResult> => {
    const paidBefore = findPaidBefore(intent, clock.now())
    return settleAuthorization({
      payment: attempt.payment,
      caller: intent.caller,
      ...(attempt.requester === undefined ? {} : { requester: attempt.requester }),
      // The settlement is anonymous too: no account sees it.
      quota: intent.caller === 'anonymous' ? null : attempt.quota,
      paidAfter: new Date(intent.createdAt.getTime() - clockToleranceMs),
      ...(paidBefore === null ? {} : { paidBefore }),
      fingerprint: consumerOf(intent),
      consumer: consumerOf(intent),
      isBodyBound: true,
      admit: async (authorized) => findForeignPayer(registry, selected, attempt.payment, authorized),
      onClaimed: async ({ id: settlementId, authorizationId, payer }) => {
        const payment = { settlementId, authorizationId }
        try {
          // A payment that a crash left behind has ended by now, but the intent may still name it.
          await finishNewest({ id: intent.id, caller: intent.caller })
          const command = { type: 'bind', payment, paid: selected } as const
          await changeIntent(store, intent.id, { command, now: clock.now() })
          return null
        } catch (error) {
          if (!(error instanceof AppError) || error.code === 'SERVICE_UNAVAILABLE') throw error
          return { isValid: false, payer, reason: 'duplicate_settlement', message: error.message }
        }
      },
    })
  }

  const finishNewest = async (call: IntentCall): Promise<Intent> =>
    await finishIntent(await getOwnIntent(store, call))

  /** The intent, and the route that is paid. */
  const prepare = async ({ routeId, ...call }: ExecuteRequest): Promise<Prepared> => {
    const intent = await finishNewest(call)
    if (routeId === undefined || routeId === intent.selected?.route.id) {
      return { intent, selected: intent.selected }
    }
    // After the end only a transfer moves the intent, when it is bound: an id alone, which strangers may know, does not.
    const late = await selectRoute.findLate(intent, routeId)
    if (late !== null) return { intent, selected: late }
    const routed = await selectRoute.select(intent, routeId, { isForTransfer: true })
    return { intent: routed, selected: routed.selected }
  }

  return async (request) => {
    const { intent, selected } = await prepare(request)
    const payment = selected === null ? null : readPayload(request, selected)
    const authorizationId = payment === null ? null : identify(registry, payment)
    const command = { type: 'execute', authorizationId, paid: selected } as const
    decide(intent, command, clock.now())
    if (selected === null || payment === null) throw new Error('An intent without a route is not executed')
    if (isRefused(payment)) throw refuse(payment.reason, payment.message)
    if (intent.status === 'completed' || intent.status === 'failed') return answer(intent, clock.now())

    const result = await settle(intent, selected, { ...request, payment }).catch(async (error: unknown) => {
      // What was bound may have been abandoned; if this fails, the job does it.
      await finishNewest(request).catch(() => undefined)
      throw error
    })
    const newest = await finishNewest(request)
    if (newest.payment !== null && newest.payment.authorizationId === authorizationId) {
      return answer(newest, clock.now())
    }
    // The newest state says more than the refusal of the losing payment.
    decide(newest, command, clock.now())
    if (result.errorReason === 'transaction_too_late') requireUnended(newest, newest.endsAt, clock.now())
    if (result.errorReason === 'settlement_pending') {
      throw new AppError('SERVICE_UNAVAILABLE', 'Another request is executing the intent; retry', {
        retryAfterSeconds: 2,
      })
    }
    throw refuse(result.errorReason, result.errorMessage)
  }
}

interface Prepared {
  readonly intent: Intent
  readonly selected: SelectedRoute | null
}

interface Attempt extends Pick<ExecuteRequest, 'quota' | 'requester'> {
  readonly payment: Payment
}

/** The stored requirements are authoritative; the version is that of the payload. */
const readPayload = (
  { paymentPayload }: ExecuteRequest,
  { requirements }: SelectedRoute,
): Payment | RefusedPayment => readPayment({ paymentPayload, paymentRequirements: requirements })

/** Null if the payload cannot be read. */
const identify = (registry: SchemeRegistry, payment: Payment | RefusedPayment): string | null => {
  if (isRefused(payment)) return null
  const scheme = findScheme(registry, payment)
  return typeof scheme === 'string' ? null : scheme.identify(payment)
}

/** Only the payer that the route names may pay it: its balance was read, and the payee expects it. */
const findForeignPayer = (
  registry: SchemeRegistry,
  { route }: SelectedRoute,
  payment: Payment,
  { payer }: Authorized,
): Refusal | null => {
  const scheme = findScheme(registry, payment)
  if (typeof scheme !== 'string' && isSameText(scheme.network, payer, route.payer)) return null
  return {
    isValid: false,
    payer,
    reason: 'payer_mismatch',
    message: `The intent names the payer ${route.payer}`,
  }
}

const refuse = (named: string | undefined, message: string | undefined): AppError => {
  const reason = readReason(named ?? null)
  if (reason === null) return new AppError('PAYMENT_REFUSED', message ?? 'The payment was refused')
  return new AppError('PAYMENT_REFUSED', message ?? describeReason(reason), { reason })
}

const messages = {
  completed: 'The payee was paid',
  executing: 'Sent, outcome not known yet; send the same request again, do not pay again',
  failed: 'The payment failed, and no funds moved',
} as const

const answer = (intent: Intent, now: Date): ExecutedIntent => {
  const { status, transaction } = intent
  const sent = transaction ?? ''
  return {
    intent: viewIntent(intent, now),
    status,
    transaction: sent,
    txHashes: sent === '' ? [] : [sent],
    message: status === 'completed' || status === 'failed' ? messages[status] : messages.executing,
  }
}

/** Ends an executing intent whose settlement has ended in the journal; returns the intent as it is then. */
type FinishIntent = (intent: Intent) => Promise<Intent>

interface FinishIntentDependencies {
  readonly store: Pick<IntentStore, 'change'>
  readonly journal: Pick<SettlementJournal, 'find' | 'consume'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Fingerprint and consumer of every settlement of the intent. */
const consumerOf = ({ id }: Pick<Intent, 'id'>): string => `intent:${id}`

export const createFinishIntent =
  ({ store, journal, clock, logger }: FinishIntentDependencies): FinishIntent =>
  async (intent) => {
    if (intent.status !== 'executing' || intent.payment === null) return intent
    const settlement = await journal.find(intent.payment.settlementId)
    if (settlement === null || settlement.state === 'claimed' || settlement.state === 'pending') return intent
    const logFields = { intentId: intent.id, settlementId: settlement.id, account: settlement.caller }
    // The one success of the authorization is the intent's, also if its block is orphaned and another one confirms it.
    if (settlement.state === 'confirmed' && !(await journal.consume(settlement.id, consumerOf(intent)))) {
      logger.error(logFields, 'intent.success_taken')
      return intent
    }
    const command = { type: 'finish', settlement } as const
    const finished = await changeIntent(store, intent.id, { command, now: clock.now() })
    if (finished.status !== intent.status) {
      const { status } = finished
      logger.info({ ...logFields, status }, 'intent.finished')
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
      onFailure: ({ id, caller: account, payment }, error) => {
        const settlementId = payment?.settlementId
        logger.warn(
          { intentId: id, account, ...(settlementId === undefined ? {} : { settlementId }), error },
          'intent.end_failed',
        )
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
