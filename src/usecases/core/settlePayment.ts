import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import { findClaimedPayer } from '../../protocol/claimedPayer.js'
import { isRefused, readPayment } from '../../protocol/legacy.js'
import { describeReason, findRemedy, type Reason, readReason } from '../../protocol/reasons.js'
import type { SettleResult } from '../../protocol/results.js'
import { settleResult } from '../../protocol/results.js'
import { fingerprintRequest } from './fingerprint.js'
import { refuseSettle } from './settleAnswers.js'
import type { SettleAuthorization } from './settleAuthorization.js'
import { type SettleAttempt, withShortDeadline } from './settlementContext.js'
import type { CoreUseCases, SettleRequest, SettleResponse } from './useCases.js'

export interface SettlePaymentDependencies {
  readonly idempotency: IdempotencyStore
  readonly settleAuthorization: SettleAuthorization
  readonly logger: Logger
}

const retryAfterSeconds = 2

const isAnonymous = ({ caller }: Pick<SettleRequest, 'caller'>): boolean => caller === 'anonymous'

/** With an `Idempotency-Key`, settles at most once and always returns the same response; refusals are not kept. */
export const createSettlePayment = ({
  idempotency,
  settleAuthorization,
  logger,
}: SettlePaymentDependencies): CoreUseCases['settlePayment'] => {
  const begin = async (idempotent: IdempotentRequest) => {
    try {
      return await idempotency.begin(idempotent)
    } catch (cause) {
      throw new AppError('IDEMPOTENCY_UNAVAILABLE', 'The idempotency store did not answer', {
        cause,
        retryAfterSeconds,
      })
    }
  }

  /** Failures are logged only: the journal is authoritative, and an unfinished key expires and is taken over. */
  const saveKeyState = async (work: Promise<void>) => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ error }, 'idempotency.write_failed')
    }
  }

  /** An unreadable payment is a result (HTTP 200), also under its Idempotency-Key. */
  const settle = async (
    { body, caller, quota }: SettleRequest,
    identity: Pick<SettleAttempt, 'fingerprint' | 'consumer' | 'isAwaited'>,
  ): Promise<SettleResult> => {
    const payment = readPayment(body)
    if (isRefused(payment)) {
      const payer = findClaimedPayer(body.paymentPayload.payload)
      return refuseSettle(payment.callerNetwork, payment.reason, payment.message, payer)
    }
    return await settleAuthorization({ payment, caller, quota, ...identity })
  }

  const settleOnce = async (request: SettleRequest, idempotent: IdempotentRequest): Promise<SettleResult> => {
    let result: SettleResult
    try {
      result = await settle(request, {
        fingerprint: idempotent.fingerprint,
        consumer: `key:${idempotent.caller}:${idempotent.key}`,
      })
    } catch (error) {
      await saveKeyState(idempotency.forget(idempotent))
      throw error
    }
    if (result.success) await saveKeyState(idempotency.answer(idempotent, result))
    else if (result.status === 'pending') await saveKeyState(idempotency.release(idempotent))
    // The other request's settlement may still be open: the next retry reports its outcome.
    else if (result.errorReason === 'duplicate_settlement') await saveKeyState(idempotency.forget(idempotent))
    else {
      const reason = readReason(result.errorReason ?? null)
      const isFinal = result.settlementId !== undefined && reason !== null && findRemedy(reason).isFinal
      if (isFinal) await saveKeyState(idempotency.fail(idempotent, reason))
      // Refused before a claim, or for a reason that may pass. A caller's key stays bound to its body.
      else if (isAnonymous(request)) await saveKeyState(idempotency.forget(idempotent))
      else await saveKeyState(idempotency.release(idempotent))
    }
    return result
  }

  return async (request): Promise<SettleResponse> => {
    const { body, caller, idempotencyKey } = request
    if (idempotencyKey === null) {
      const consumer = `request:${randomUUID()}`
      return {
        result: await settle(request, {
          fingerprint: () => fingerprintRequest(body),
          consumer,
          ...(request.isAwaited === undefined ? {} : { isAwaited: request.isAwaited }),
        }),
        isReplayed: false,
      }
    }

    // Before the payment is read: a key belongs to one body, also if that body is refused.
    const fingerprint = fingerprintRequest(body)
    // Strangers share the caller `anonymous`: their keys are scoped by the body, so that none blocks another's.
    const scope = isAnonymous(request) ? `${caller}:${fingerprint}` : caller
    const idempotent = { caller: scope, key: idempotencyKey, fingerprint }
    const earlier = await begin(idempotent)
    switch (earlier.state) {
      case 'started':
        return { result: await settleOnce(request, idempotent), isReplayed: false }
      case 'answered':
        return { result: settleResult.parse(earlier.response), isReplayed: true }
      case 'running':
        throw new AppError(
          'REQUEST_IN_PROGRESS',
          'A request with this Idempotency-Key is still in progress',
          {
            retryAfterSeconds,
          },
        )
      case 'mismatch':
        throw new AppError('PAYLOAD_MISMATCH', 'This Idempotency-Key was used with another payload')
      case 'failed':
        throw asPreviousFailure(earlier.reason)
    }
  }
}

const asPreviousFailure = (reason: Reason | null): AppError => {
  const message = 'The request with this Idempotency-Key failed permanently'
  if (reason === null) return new AppError('PREVIOUS_REQUEST_FAILED', message)
  return new AppError('PREVIOUS_REQUEST_FAILED', `${message}: ${describeReason(reason)}`, { reason })
}
