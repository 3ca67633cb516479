import { withTimeout } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Logger } from '../../../ports/logger.js'
import { refusalFields, type VerifyResult } from '../../../protocol/results.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { QuotaGate } from '../limits.js'
import type { RefusedRequest } from '../settle/settleAnswers.js'
import { findPromisee } from '../settle/settlementContext.js'
import type { CoreUseCases, VerifyRequest } from '../useCases.js'
import type { HoldFunds } from './holdFunds.js'
import { noPauses, pausedError } from './pauses.js'
import { createPaymentJudge, type PaymentJudgeDependencies } from './paymentJudge.js'

interface VerifyPaymentDependencies extends PaymentJudgeDependencies {
  readonly quotaGate: QuotaGate
  readonly holdFunds: HoldFunds
  readonly logger: Logger
  readonly deadlineMs: number
}

export const createVerifyPayment = (
  dependencies: VerifyPaymentDependencies,
): CoreUseCases['verifyPayment'] => {
  const { quotaGate, holdFunds, pauses = noPauses, logger, deadlineMs } = dependencies
  const paymentJudge = createPaymentJudge(dependencies)

  const verify = async (request: VerifyRequest): Promise<VerifyResult> => {
    const { body, caller, requester, quota } = request
    const read = paymentJudge.read(body)
    if ('reason' in read) return refuse(read)

    // A transfer that the client made itself is looked up first: it may precede the pause.
    const isNew = read.scheme.continues?.(read.payment) !== true
    const isPausable = isNew && findPublicProof(read.scheme) === null
    const pause = isPausable ? pauses.find(read.payment.requirements, caller) : null
    // Payments over quota cannot be settled, so they must not verify,
    const exhausted = quota === null || pause !== null ? null : await quotaGate(quota)
    const refusal = pause === null ? exhausted : pausedError(pause)
    if (refusal !== null) {
      // unless this caller's settlement of the payment exists: settling it again uses no quota.
      const existing = await paymentJudge.findSettlement(read)
      if (existing?.caller !== caller) throw refusal
    }

    const judged = await paymentJudge.judge(read, request)
    const { payment } = read
    const { network } = payment.requirements
    const promise = caller === 'anonymous' ? 'none' : 'new'
    const promisee = findPromisee({ caller, quota, requester })
    const verdict = await holdFunds(payment, judged, { caller, purpose: 'verify', promise, promisee })
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
    const conclusion = await paymentJudge.conclude(read, verdict, request)
    if ('reason' in conclusion) return refuse(conclusion)
    const snapshot = verdict.isValid ? verdict.snapshot : undefined
    const { payer } = conclusion
    return snapshot === undefined ? { isValid: true, payer } : { isValid: true, payer, extra: snapshot }
  }

  return (request) => withVerifyDeadline(verify(request), request.isAwaited, deadlineMs)
}

/** Maps failures and the deadline to VERIFICATION_FAILED; application errors pass unchanged. */
export const withVerifyDeadline = async <Result>(
  work: Promise<Result>,
  isAwaited: () => boolean,
  deadlineMs: number,
): Promise<Result> => {
  try {
    return await withTimeout(work, deadlineMs)
  } catch (error) {
    if (error instanceof AppError || !isAwaited()) throw error
    throw new AppError('VERIFICATION_FAILED', 'The payment could not be verified', {
      cause: error,
      operationalCode: 'SVC-4001',
    })
  }
}

const refuse = ({ payer, ...refused }: RefusedRequest): VerifyResult => {
  const { reason, message, ...operational } = refusalFields(refused.reason, refused.message, refused.isFinal)
  return {
    isValid: false,
    invalidReason: reason,
    invalidMessage: message,
    ...operational,
    ...(payer == null ? {} : { payer }),
  }
}
