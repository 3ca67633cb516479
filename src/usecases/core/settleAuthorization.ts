import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Recorder, Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { isRefused, readPayment } from '../../protocol/legacy.js'
import type { Payment } from '../../protocol/payment.js'
import type { SettleResult } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Outcome, Scheme, ValidVerdict, Verdict } from '../../schemes/scheme.js'
import type { SettleRequest } from '../useCases.js'
import { findScheme } from './findScheme.js'
import { answerDuplicate, answerPending, failSettle, refuseSettle, succeed } from './settleAnswers.js'
import type { SpendingLimits } from './spendingLimits.js'

/** A request to settle, with what makes it this request and who will be told. */
export interface SettleAttempt extends Pick<SettleRequest, 'body' | 'caller'> {
  readonly fingerprint: string
  /** Who is told success: the same for retries with one Idempotency-Key, else a new one each time. */
  readonly consumer: string
}

/** Settles one authorization; whoever else settles the same one is told the truth about it. */
export type SettleAuthorization = (attempt: SettleAttempt) => Promise<SettleResult>

/** What settling one authorization needs. */
export interface SettleAuthorizationParts {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly limits: SpendingLimits
  readonly clock: Clock
  readonly logger: Logger
  /** How long a caller waits for the outcome; what takes longer is answered `settlement_pending`. */
  readonly waitMs: number
}

/** A settlement in progress. */
interface Work extends SettleAttempt {
  readonly payment: Payment
  readonly scheme: Scheme
  readonly waitUntil: AbortSignal
}

// A row can fail between two looks at it, and a crashed one can be cleared away; then we try from the start.
const maxRounds = 4
const firstPollMs = 50
const longestPollMs = 500

/** Settles authorizations: claim, record, send, conclude; whoever comes second joins or is told so. */
export const createSettleAuthorization = ({
  registry,
  journal,
  limits,
  clock,
  logger,
  waitMs,
}: SettleAuthorizationParts): SettleAuthorization => {
  const settle = async (work: Work): Promise<SettleResult> => {
    const { payment, scheme, waitUntil } = work
    const { callerNetwork } = payment
    const authorizationId = scheme.identify(payment)
    for (let round = 0; round < maxRounds; round++) {
      const existing = authorizationId === null ? null : await journal.findOpen(authorizationId)
      if (existing !== null) {
        const joined = await join(existing, work)
        if (joined !== null) return joined
        continue
      }

      const verdict = await judge(scheme, payment, waitUntil)
      if (!verdict.isValid) {
        // Perhaps another request settled it while we looked.
        const settled = authorizationId === null ? null : await journal.findOpen(authorizationId)
        if (settled !== null) continue
        return refuseSettle(callerNetwork, verdict.reason, verdict.message, verdict.payer)
      }
      await limits.spend(payment, verdict.payer)
      const claimed = await claim(work, verdict)
      if (claimed !== null) return await execute(claimed, work)
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'This authorization is being settled by others', {
      retryAfterSeconds: 2,
    })
  }

  const judge = async (scheme: Scheme, payment: Payment, signal: AbortSignal): Promise<Verdict> => {
    try {
      return await scheme.verify(payment, signal)
    } catch (error) {
      throw asFailure(error)
    }
  }

  const claim = (work: Work, verdict: ValidVerdict): Promise<Settlement | null> => {
    const { scheme, network, asset, payTo } = work.payment.requirements
    return journal.claim({
      authorizationId: verdict.authorizationId,
      scheme,
      network,
      asset,
      payTo,
      payer: verdict.payer,
      amount: verdict.amount,
      expiresAt: verdict.expiresAt,
      resource: work.payment.resource,
      caller: work.caller,
      fingerprint: work.fingerprint,
    })
  }

  /** We hold the claim: nobody else sends this payment. */
  const execute = async (settlement: Settlement, work: Work): Promise<SettleResult> => {
    const { payment, scheme, waitUntil } = work
    logger.info(describe(settlement), 'settlement.opened')
    let recorded: string | null = null
    const recorder = observe(journal.recorderFor(settlement.id), (transaction) => {
      recorded = transaction
      logger.info({ ...describe(settlement), transaction }, 'settlement.broadcast')
    })

    let outcome: Outcome
    try {
      outcome = await scheme.settle(payment, recorder, { waitUntil })
    } catch (error) {
      if (recorded === null) {
        const answer = await giveUp(settlement, work).catch((failure: unknown) => {
          // The reconciler will find the row.
          logger.error({ ...describe(settlement), error: failure }, 'settlement.not_given_up')
          return null
        })
        if (answer !== null) return answer
        throw asFailure(error)
      }
      logger.error({ ...describe(settlement), error }, 'settlement.interrupted')
      outcome = { state: 'pending', transaction: recorded }
    }

    try {
      return await conclude(settlement, outcome, work)
    } catch (error) {
      if (recorded === null) throw asFailure(error)
      // Success may be told only when the journal holds it; the reconciler closes the row.
      logger.error({ ...describe(settlement), error }, 'settlement.not_closed')
      return answerPending(settlement, recorded, payment.callerNetwork)
    }
  }

  const conclude = async (settlement: Settlement, outcome: Outcome, work: Work): Promise<SettleResult> => {
    const { callerNetwork } = work.payment
    if (outcome.state === 'pending') {
      await journal.release(settlement.id)
      logger.warn({ ...describe(settlement), transaction: outcome.transaction }, 'settlement.pending')
      return answerPending(settlement, outcome.transaction, callerNetwork)
    }
    if (!(await journal.close(settlement.id, outcome, work.consumer))) {
      // The reconciler was quicker; what it wrote is what everyone is told.
      const closed = await journal.find(settlement.id)
      return (
        (closed === null ? null : await answerClosed(closed, work)) ??
        answerPending(settlement, outcome.transaction ?? null, callerNetwork)
      )
    }
    logger.info({ ...describe(settlement), ...outcome }, `settlement.${outcome.state}`)
    return outcome.state === 'confirmed'
      ? succeed(settlement, outcome.transaction, callerNetwork)
      : failSettle(settlement, outcome.reason, callerNetwork)
  }

  /** What a caller is told of a row that is closed; null when it is not. */
  const answerClosed = async (settlement: Settlement, work: Work): Promise<SettleResult | null> => {
    const { callerNetwork } = work.payment
    switch (settlement.state) {
      case 'confirmed': {
        const isOurs =
          isSameRequest(settlement, work) && (await journal.consume(settlement.id, work.consumer))
        return isOurs
          ? succeed(settlement, settlement.transaction ?? '', callerNetwork)
          : answerDuplicate(settlement, callerNetwork)
      }
      case 'failed':
        return failSettle(settlement, settlement.reason ?? 'settlement_abandoned', callerNetwork)
      case 'claimed':
      case 'pending':
        return null
    }
  }

  /** Waits with a settlement that another request began; null when it left nothing behind and we may begin. */
  const join = async (found: Settlement, work: Work): Promise<SettleResult | null> => {
    const { callerNetwork } = work.payment
    let settlement = found
    let pollMs = firstPollMs
    for (;;) {
      const answer = await answerClosed(settlement, work)
      if (answer !== null) return answer
      if (settlement.state === 'claimed' && !settlement.isAttended) {
        await journal.abandon(settlement.id)
        return null
      }
      // For another resource or another caller: the first one's payment, whatever becomes of it.
      if (!isSameRequest(settlement, work)) return answerDuplicate(settlement, callerNetwork)
      if (!(await clock.sleep(pollMs, work.waitUntil))) {
        return answerPending(settlement, settlement.transaction, callerNetwork)
      }
      pollMs = Math.min(pollMs * 2, longestPollMs)
      const current = await journal.find(settlement.id)
      if (current === null) return null
      settlement = current
    }
  }

  /**
   * Gives up a claim for which nothing was recorded. A recording can succeed although its answer was lost;
   * then the bytes will be sent, and the caller is told so.
   */
  const giveUp = async (settlement: Settlement, { payment }: Work): Promise<SettleResult | null> => {
    if (await journal.abandon(settlement.id)) return null
    const found = await journal.find(settlement.id)
    if (found === null || found.state !== 'pending') return null
    await journal.release(settlement.id)
    logger.warn({ ...describe(settlement), transaction: found.transaction }, 'settlement.pending')
    return answerPending(found, found.transaction, payment.callerNetwork)
  }

  return async (request) => {
    const payment = readPayment(request.body)
    if (isRefused(payment)) return refuseSettle(payment.callerNetwork, payment.reason, payment.message)
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') return refuseSettle(payment.callerNetwork, scheme)
    const work = { ...request, payment, scheme, waitUntil: AbortSignal.timeout(waitMs) }
    try {
      return await settle(work)
    } catch (error) {
      throw asFailure(error)
    }
  }
}

/** A retry of the same request may share its outcome; the same authorization for anything else may not. */
const isSameRequest = (settlement: Settlement, { caller, fingerprint }: Work): boolean =>
  settlement.caller === caller && settlement.fingerprint === fingerprint

const describe = ({ id, authorizationId, network, scheme, payer, amount }: Settlement) => ({
  settlementId: id,
  authorizationId,
  network,
  scheme,
  payer,
  amount: amount.toString(),
})

const observe = (recorder: Recorder, onRecorded: (transaction: string) => void): Recorder => ({
  settlementId: recorder.settlementId,
  record: async (signed) => {
    await recorder.record(signed)
    onRecorded(signed.transaction)
  },
  recordInLane: async (lane, sign) => {
    const signed = await recorder.recordInLane(lane, sign)
    onRecorded(signed.transaction)
    return signed
  },
})

/** Whatever stopped us before anything was sent. */
const asFailure = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError(
        'SETTLEMENT_FAILED',
        'The payment could not be settled now; the same request can be repeated',
        {
          cause: error,
          operationalCode: 'SVC-3002',
        },
      )
