import { withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import type { Logger } from '../../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import { findClaimedPayer, isRefused, readPayment } from '../../../protocol/readPayment.js'
import { refusalFields, type VerifyResult } from '../../../protocol/results.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Scheme, Verification } from '../../../schemes/scheme.js'
import { fingerprintRequest } from '../idempotency/fingerprint.js'
import type { QuotaGate } from '../limits.js'
import { noPaymentExtensions, type PaymentExtensions } from '../paymentExtensions.js'
import { consumedBefore, describeWinner, type RefusedRequest } from '../settle/settleAnswers.js'
import { findPromisee, fingerprintProof, isSameRequest } from '../settle/settlementContext.js'
import type { CoreUseCases, VerifyRequest } from '../useCases.js'
import { checkNewRequirements, findScheme } from './checkRequirements.js'
import { type ClaimRules, noClaimRules } from './claimRules.js'
import { canBeHeld, type HoldFunds, takenBy } from './holdFunds.js'
import { noPauses, type PauseGate, pausedError } from './pauses.js'

interface VerifyPaymentDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly quotaGate: QuotaGate
  readonly holdFunds: HoldFunds
  /** Default: payments carry a signature. */
  readonly claimRules?: ClaimRules
  /** Default: nothing is paused. */
  readonly pauses?: PauseGate
  readonly extensions?: PaymentExtensions
  readonly logger: Logger
  readonly deadlineMs: number
}

// Shorter than the deadline: a slow journal must leave time for the chain.
const journalDeadlineMs = 3_000

export const createVerifyPayment = ({
  registry,
  journal,
  quotaGate,
  holdFunds,
  claimRules = noClaimRules,
  pauses = noPauses,
  extensions = noPaymentExtensions,
  logger,
  deadlineMs,
}: VerifyPaymentDependencies): CoreUseCases['verifyPayment'] => {
  const withDeadline = async (
    work: Promise<VerifyResult>,
    isAwaited: () => boolean,
  ): Promise<VerifyResult> => {
    // One timer: `AbortSignal.any` and `AbortSignal.timeout` cost as much as the rest of a verify.
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
    return await readInTime(journal.findOpen(authorizationId))
  }

  const readInTime = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await withSignal(reading, AbortSignal.timeout(journalDeadlineMs))
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
        cause,
        retryAfterSeconds: 1,
      })
    }
  }

  const judge = async (
    scheme: Scheme,
    payment: Payment,
    { caller, requester, isAwaited }: Pick<VerifyRequest, 'caller' | 'requester' | 'isAwaited'>,
  ): Promise<Verification> => {
    if (findPublicProof(scheme) === null)
      return await scheme.verify(payment, { isAwaited, caller, requester })
    const { requirements } = payment
    const attempt = { requirements, caller, isForSettle: false }
    const admitted = await readInTime(claimRules.judge(scheme, attempt))
    if ('refusal' in admitted) {
      return { isValid: false, payer: findClaimedPayer(payment.proof), ...admitted.refusal }
    }
    const options = { ...admitted, isAwaited, caller }
    const pause = pauses.find({ ...requirements, caller })
    if (pause !== null) await pauses.requireBegun(pause, payment, { scheme, caller, options })
    return await scheme.verify(payment, options)
  }

  const verify = async ({
    body,
    caller,
    requester,
    quota,
    isAwaited,
  }: VerifyRequest): Promise<VerifyResult> => {
    const payment = readPayment(body)
    if (isRefused(payment)) {
      const { reason, message } = payment
      return refuse({ reason, message, payer: findClaimedPayer(body.paymentPayload.payload) })
    }
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') return refuse({ reason: scheme, payer: findClaimedPayer(payment.proof) })
    checkNewRequirements(payment, scheme)
    const malformed = extensions.findRefusal(payment)
    if (malformed !== null) {
      const { reason, message } = malformed
      return refuse({ reason, message, payer: findClaimedPayer(payment.proof) })
    }

    // A transfer that the client made itself is looked up first: it may precede the pause.
    const isPausable = findPublicProof(scheme) === null
    const pause = isPausable ? pauses.find({ ...payment.requirements, caller }) : null
    // Payments over quota cannot be settled, so they must not verify,
    const exhausted = quota === null || pause !== null ? null : await quotaGate(quota)
    const refusal = pause === null ? exhausted : pausedError(pause)
    if (refusal !== null) {
      // unless this caller's settlement of the payment exists: settling it again uses no quota.
      const existing = await findSettlement(scheme, payment)
      if (existing?.caller !== caller) throw refusal
    }

    const judged = await judge(scheme, payment, {
      caller,
      ...(requester === undefined ? {} : { requester }),
      isAwaited,
    })
    const promise = caller === 'anonymous' ? 'none' : 'new'
    const promisee = findPromisee({ caller, quota, requester })
    const verdict = await holdFunds(payment, judged, { caller, purpose: 'verify', promise, promisee })
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
    // The chain knows what is spent, except where payers move the funds, and except a settlement of 0 that sent
    // nothing: schemes with holds have those, and can consume what another scheme presents.
    const isSpentOnChain = scheme.journalClaims === null
    if (verdict.isValid && !canBeHeld(verdict) && isSpentOnChain) {
      return { isValid: true, payer: verdict.payer }
    }

    // Read before the journal: the row of what is consumed meanwhile is found there.
    const isConsumed =
      verdict.isValid && !isSpentOnChain && (await readInTime(journal.isConsumed(verdict.authorizationId)))
    // This request's earlier settlement was answered `settlement_pending`: valid until the success is consumed.
    const settlement = await findSettlement(scheme, payment)
    if (
      settlement !== null &&
      settlement.consumedBy === null &&
      isSameRequest(settlement, {
        caller,
        payment,
        fingerprint: fingerprintRequest(body),
        proofFingerprint: fingerprintProof(caller, payment),
        isForVerify: true,
      })
    ) {
      return { isValid: true, payer: settlement.payer }
    }
    // Spent: one reason on every network, whichever rule of the chain it breaks first.
    if (settlement !== null && (settlement.state === 'confirmed' || settlement.consumedBy !== null)) {
      const { payer } = settlement
      const message = describeWinner(settlement, caller)
      return refuse({ reason: 'duplicate_settlement', message, payer, isFinal: true })
    }
    // The service is rendered before the settle, which would find that another request has the authorization.
    if (settlement !== null && verdict.isValid && canBeHeld(verdict)) {
      const { payer } = settlement
      return refuse({ reason: 'duplicate_settlement', message: takenBy.settlement, payer })
    }
    if (!verdict.isValid) return refuse(verdict)
    const { payer } = verdict
    if (settlement === null && isConsumed) return refuse({ ...consumedBefore, payer })
    return { isValid: true, payer }
  }

  return (request) => withDeadline(verify(request), request.isAwaited)
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
