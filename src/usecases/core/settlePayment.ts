import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import type { SettleResult } from '../../protocol/results.js'
import { settleResult } from '../../protocol/results.js'
import type { CoreUseCases, SettleAnswer, SettleRequest } from '../useCases.js'
import { fingerprintRequest } from './fingerprint.js'
import type { SettleAuthorization } from './settleAuthorization.js'
import { withShortDeadline } from './settlementContext.js'

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

  const settleOnce = async (request: SettleRequest, idempotent: IdempotentRequest): Promise<SettleResult> => {
    let result: SettleResult
    try {
      result = await settleAuthorization({
        ...request,
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
        result: await settleAuthorization({ ...request, fingerprint: null, consumer }),
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
