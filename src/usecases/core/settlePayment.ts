import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import { isRefused, readPayment } from '../../protocol/legacy.js'
import type { SettleResult } from '../../protocol/results.js'
import { settleResult } from '../../protocol/results.js'
import { fingerprintRequest } from './fingerprint.js'
import { refuseSettle } from './settleAnswers.js'
import type { SettleAuthorization } from './settleAuthorization.js'
import { type SettleAttempt, withShortDeadline } from './settlementContext.js'
import type { CoreUseCases, SettleAnswer, SettleRequest } from './useCases.js'

export interface SettlePaymentDependencies {
  readonly idempotency: IdempotencyStore
  readonly settleAuthorization: SettleAuthorization
  readonly logger: Logger
}

const retryAfterSeconds = 2

/** Settles a payment; with an `Idempotency-Key`, at most once and with one answer. */
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

  /** The journal holds the truth; a key whose end cannot be noted is taken over when its time is up. */
  const note = async (work: Promise<void>) => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ error }, 'idempotency.write_failed')
    }
  }

  /** A body that cannot be read as a payment is an answer, also for its Idempotency-Key. */
  const settle = async (
    { body, caller, quota }: SettleRequest,
    identity: Pick<SettleAttempt, 'fingerprint' | 'consumer'>,
  ): Promise<SettleResult> => {
    const payment = readPayment(body)
    if (isRefused(payment)) return refuseSettle(payment.callerNetwork, payment.reason, payment.message)
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
      await note(idempotency.forget(idempotent))
      throw error
    }
    if (result.success) await note(idempotency.answer(idempotent, result))
    else if (result.status === 'pending') await note(idempotency.release(idempotent))
    // The settlement of another request is not over for us while it is open: asked again, we tell its end.
    else if (result.errorReason === 'duplicate_settlement') await note(idempotency.forget(idempotent))
    else await note(idempotency.fail(idempotent))
    return result
  }

  return async (request): Promise<SettleAnswer> => {
    const { body, caller, idempotencyKey } = request
    if (idempotencyKey === null) {
      const consumer = `request:${randomUUID()}`
      return {
        result: await settle(request, { fingerprint: () => fingerprintRequest(body), consumer }),
        isReplayed: false,
      }
    }

    // Before anything is known of the payment: a key belongs to one body, also where that body is refused.
    const idempotent = { caller, key: idempotencyKey, fingerprint: fingerprintRequest(body) }
    const earlier = await begin(idempotent)
    switch (earlier.state) {
      case 'started':
        return { result: await settleOnce(request, idempotent), isReplayed: false }
      case 'answered':
        return { result: settleResult.parse(earlier.response), isReplayed: true }
      case 'running':
        throw new AppError('REQUEST_IN_PROGRESS', 'A request with this Idempotency-Key is still running', {
          retryAfterSeconds,
        })
      case 'mismatch':
        throw new AppError('PAYLOAD_MISMATCH', 'This Idempotency-Key was used with another payload')
      case 'failed':
        throw new AppError('PREVIOUS_REQUEST_FAILED', 'The request with this Idempotency-Key failed for good')
    }
  }
}
