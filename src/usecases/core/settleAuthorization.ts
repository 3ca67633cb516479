import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettleResult } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Authorized } from '../../schemes/scheme.js'
import { createAnswerFromSettlement } from './answerFromSettlement.js'
import type { ConcurrencyLimits } from './concurrencyLimits.js'
import { createExecuteSettlement } from './executeSettlement.js'
import { findScheme } from './findScheme.js'
import { createJoinSettlement } from './joinSettlement.js'
import { refuseSettle } from './settleAnswers.js'
import { asSettleFailure, type SettleAttempt, type SettlementContext } from './settlementContext.js'
import type { SpendingLimits } from './spendingLimits.js'

/** Settles one authorization. A later attempt for the same one joins the first, or is answered `duplicate_settlement`. */
export type SettleAuthorization = (attempt: SettleAttempt) => Promise<SettleResult>

/** Schemes, journal and limits of settling. */
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

// A row can fail between two reads, and a crashed one can be abandoned; then the attempt starts again.
const maxRounds = 4

/** Builds settling: find or join an earlier attempt, verify, claim, record, send, close. */
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

      const isAwaited = () => !waitUntil.aborted
      const verified = await withSignal(scheme.verify(payment, { isAwaited }), waitUntil)
      if (!verified.isValid) {
        // Perhaps another request settled it meanwhile.
        const settled = authorizationId === null ? null : await journal.findOpen(authorizationId)
        if (settled !== null) continue
        return refuseSettle(payment.callerNetwork, verified.reason, verified.message, verified.payer)
      }
      const releaseSlot = concurrency.enterPayer(
        `${payment.requirements.network} ${verified.payer}`,
        verified.authorizationId,
      )
      try {
        await limits.spend(payment, verified.payer)
        const claimed = await claim(work, verified)
        if (claimed !== null) return await execute(claimed, verified, work)
      } finally {
        releaseSlot()
      }
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'This authorization is being settled by others', {
      retryAfterSeconds: 2,
    })
  }

  const claim = (work: SettlementContext, authorized: Authorized): Promise<Settlement | null> => {
    const { scheme, network, asset, payTo } = work.payment.requirements
    const claimed = {
      authorizationId: authorized.authorizationId,
      scheme,
      network,
      asset,
      payTo,
      payer: authorized.payer,
      amount: authorized.amount,
      authorizedAmount: authorized.authorizedAmount,
      expiresAt: authorized.expiresAt,
      details: authorized.details,
      resource: work.payment.resource,
      caller: work.caller,
      fingerprint: work.fingerprint,
    }
    return journal.claim(claimed, work.quota === null ? null : { tier: work.quota.tier, at: clock.now() })
  }

  return async (attempt) => {
    const scheme = findScheme(registry, attempt.payment)
    if (typeof scheme === 'string') return refuseSettle(attempt.payment.callerNetwork, scheme)
    const releaseSlot = concurrency.enterCaller(attempt.caller)
    try {
      const fingerprint =
        typeof attempt.fingerprint === 'string' ? attempt.fingerprint : attempt.fingerprint()
      return await settle({ ...attempt, fingerprint, scheme, waitUntil: AbortSignal.timeout(waitMs) })
    } catch (error) {
      throw asSettleFailure(error)
    } finally {
      releaseSlot()
    }
  }
}
