import { withSignal } from '../../deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { isRefused, readPayment } from '../../protocol/legacy.js'
import type { SettleResult } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { ValidVerdict } from '../../schemes/scheme.js'
import { createAnswerFromSettlement } from './answerFromSettlement.js'
import type { ConcurrencyLimits } from './concurrencyLimits.js'
import { createExecuteSettlement } from './executeSettlement.js'
import { findScheme } from './findScheme.js'
import { fingerprintRequest } from './fingerprint.js'
import { createJoinSettlement } from './joinSettlement.js'
import { refuseSettle } from './settleAnswers.js'
import { asSettleFailure, type SettleAttempt, type SettlementContext } from './settlementContext.js'
import type { SpendingLimits } from './spendingLimits.js'

/** Settles one authorization; whoever else settles the same one is told the truth about it. */
export type SettleAuthorization = (attempt: SettleAttempt) => Promise<SettleResult>

export interface SettleAuthorizationDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly limits: SpendingLimits
  readonly concurrency: ConcurrencyLimits
  readonly clock: Clock
  readonly logger: Logger
  /** How long a caller waits for the outcome; what takes longer is answered `settlement_pending`. */
  readonly waitMs: number
}

// A row can fail between two looks at it, and a crashed one can be cleared away; then we try from the start.
const maxRounds = 4

/** Settles authorizations: claim, record, send, conclude; whoever comes second joins or is told so. */
export const createSettleAuthorization = ({
  registry,
  journal,
  limits,
  concurrency,
  clock,
  logger,
  waitMs,
}: SettleAuthorizationDependencies): SettleAuthorization => {
  const answerFromSettlement = createAnswerFromSettlement(journal)
  const execute = createExecuteSettlement({ journal, answerFromSettlement, logger })
  const join = createJoinSettlement({ journal, answerFromSettlement, clock, logger })

  const settle = async (work: SettlementContext): Promise<SettleResult> => {
    const { payment, scheme, waitUntil } = work
    const authorizationId = scheme.identify(payment)
    for (let round = 0; round < maxRounds; round++) {
      const existing = authorizationId === null ? null : await journal.findOpen(authorizationId)
      if (existing !== null) {
        const joined = await join(existing, work)
        if (joined !== null) return joined
        continue
      }

      const verdict = await withSignal(
        scheme.verify(payment, { isAwaited: () => !waitUntil.aborted, precedesSettle: true }),
        waitUntil,
      )
      if (!verdict.isValid) {
        // Perhaps another request settled it while we looked.
        const settled = authorizationId === null ? null : await journal.findOpen(authorizationId)
        if (settled !== null) continue
        return refuseSettle(payment.callerNetwork, verdict.reason, verdict.message, verdict.payer)
      }
      const releaseSlot = concurrency.enterPayer(
        `${payment.requirements.network} ${verdict.payer}`,
        verdict.authorizationId,
      )
      try {
        await limits.spend(payment, verdict.payer)
        const claimed = await claim(work, verdict)
        if (claimed !== null) return await execute(claimed, work)
      } finally {
        releaseSlot()
      }
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'This authorization is being settled by others', {
      retryAfterSeconds: 2,
    })
  }

  const claim = (work: SettlementContext, verdict: ValidVerdict): Promise<Settlement | null> => {
    const { scheme, network, asset, payTo } = work.payment.requirements
    const claimed = {
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
    }
    return journal.claim(claimed, work.quota === null ? null : { tier: work.quota.tier, at: clock.now() })
  }

  return async (attempt) => {
    const payment = readPayment(attempt.body)
    if (isRefused(payment)) return refuseSettle(payment.callerNetwork, payment.reason, payment.message)
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') return refuseSettle(payment.callerNetwork, scheme)
    const releaseSlot = concurrency.enterCaller(attempt.caller)
    try {
      // Only now: hashing a large body takes longer than refusing it.
      const fingerprint = attempt.fingerprint ?? fingerprintRequest(attempt.body)
      const waitUntil = AbortSignal.timeout(waitMs)
      return await settle({ ...attempt, fingerprint, payment, scheme, waitUntil })
    } catch (error) {
      throw asSettleFailure(error)
    } finally {
      releaseSlot()
    }
  }
}
