import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { isRefused, readPayment } from '../../protocol/legacy.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import { refusalFields, type VerifyResult } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'
import { findScheme } from './findScheme.js'
import { fingerprintRequest } from './fingerprint.js'
import type { QuotaGate } from './quotaGate.js'
import type { CoreUseCases, VerifyRequest } from './useCases.js'

/** What verifying needs. */
export interface VerifyPaymentDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly quotaGate: QuotaGate
  readonly logger: Logger
  readonly deadlineMs: number
}

// The deadline leaves time for the chain: a journal that does not answer must not use it up.
const journalDeadlineMs = 3_000

/** Judges a payment and moves nothing. */
export const createVerifyPayment = ({
  registry,
  journal,
  quotaGate,
  logger,
  deadlineMs,
}: VerifyPaymentDependencies): CoreUseCases['verifyPayment'] => {
  /** Answers by the deadline, whatever chain and database do. */
  const inTime = async (work: Promise<VerifyResult>, isAwaited: () => boolean): Promise<VerifyResult> => {
    // A timer of its own instead of `AbortSignal.any` and `AbortSignal.timeout`, which cost as much as the rest.
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The deadline passed')), deadlineMs)
    })
    try {
      return await Promise.race([work, deadline])
    } catch (error) {
      if (error instanceof AppError || !isAwaited()) throw error
      throw new AppError('VERIFICATION_FAILED', 'The payment could not be verified', {
        cause: error,
        operationalCode: 'SVC-4001',
      })
    } finally {
      clearTimeout(timer)
    }
  }

  const findSettlement = async (scheme: Scheme, payment: Payment): Promise<Settlement | null> => {
    const authorizationId = scheme.identify(payment)
    if (authorizationId === null) return null
    try {
      return await withSignal(journal.findOpen(authorizationId), AbortSignal.timeout(journalDeadlineMs))
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
        cause,
        retryAfterSeconds: 1,
      })
    }
  }

  const verify = async ({ body, caller, quota, isAwaited }: VerifyRequest): Promise<VerifyResult> => {
    const payment = readPayment(body)
    if (isRefused(payment)) return refuse(payment.reason, payment.message)
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') return refuse(scheme)

    // Nobody should deliver for what cannot be settled.
    const refusal = quota === null ? null : await quotaGate(quota)
    if (refusal !== null) {
      // Unless a settlement of the caller stands for the payment: settling it uses nothing of the quota any more.
      const begun = await findSettlement(scheme, payment)
      if (begun?.caller !== caller) throw refusal
    }

    const verdict = await scheme.verify(payment, { isAwaited })
    const { network } = payment.requirements
    logger.info(
      verdict.isValid
        ? {
            network,
            payer: verdict.payer,
            authorizationId: verdict.authorizationId,
            amount: `${verdict.amount}`,
          }
        : { network, payer: verdict.payer, reason: verdict.reason },
      verdict.isValid ? 'payment.valid' : 'payment.invalid',
    )
    if (verdict.isValid) return { isValid: true, payer: verdict.payer }

    // Paid for by this very request whose answer was `settlement_pending`: good until someone is told success.
    const settlement = await findSettlement(scheme, payment)
    if (
      settlement !== null &&
      settlement.consumedBy === null &&
      settlement.caller === caller &&
      settlement.fingerprint === fingerprintRequest(body)
    ) {
      return { isValid: true, payer: settlement.payer }
    }
    return refuse(verdict.reason, verdict.message, verdict.payer)
  }

  return (request) => inTime(verify(request), request.isAwaited)
}

const refuse = (refusedFor: Reason, sentence?: string, payer?: string | null): VerifyResult => {
  const { reason, message, ...operational } = refusalFields(refusedFor, sentence)
  return {
    isValid: false,
    invalidReason: reason,
    invalidMessage: message,
    ...operational,
    ...(payer == null ? {} : { payer }),
  }
}
