import { AppError } from '../../errors.js'
import type { IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import type { SettleResult } from '../../protocol/results.js'
import { asUnavailable, createBeginOncePerKey } from './beginOncePerKey.js'
import { createSaveKeyState } from './saveKeyState.js'
import type { SettleAttempt } from './settlementContext.js'

export type BindingHooks = Pick<SettleAttempt, 'onClaimed' | 'onSent'>

/**
 * Settles a payment whose key belongs to all payments to one recipient, and binds the key to its body: from the claim
 * on, and for the life of the key once the payment was sent. A request that sends nothing leaves no binding, so that
 * a caller who guesses a key must pay the recipient to occupy it. Throws PAYLOAD_MISMATCH if another body is bound.
 */
export type SettleBound = (
  binding: IdempotentRequest,
  settle: (hooks: BindingHooks) => Promise<SettleResult>,
) => Promise<SettleResult>

const name = 'Idempotency-Key'

export const createSettleBound = (idempotency: IdempotencyStore, logger: Logger): SettleBound => {
  const beginOncePerKey = createBeginOncePerKey(idempotency)
  const saveKeyState = createSaveKeyState(logger)

  const rejectMismatch = async (binding: IdempotentRequest): Promise<void> => {
    const isMismatch = await idempotency.isMismatch(binding).catch((cause) => {
      throw asUnavailable(cause)
    })
    if (isMismatch) throw new AppError('PAYLOAD_MISMATCH', `This ${name} was used with another payload`)
  }

  /** Binds a payment that an earlier request has sent. */
  const bindSent = async (binding: IdempotentRequest): Promise<void> => {
    const { state } = await idempotency.begin(binding)
    if (state === 'started') await idempotency.release(binding)
  }

  return async (binding, settle) => {
    let isBegun = false
    let isSent = false
    const hooks: BindingHooks = {
      // If several bodies were verified at the same time, the store lets one through.
      onClaimed: async () => {
        await beginOncePerKey({ idempotent: binding, name })
        isBegun = true
        return null
      },
      onSent: () => {
        isSent = true
      },
    }
    const end = async (holds: boolean): Promise<void> => {
      // A key that this process still owns is bound as well: the answer does not wait.
      if (holds) void saveKeyState(idempotency.release(binding))
      else await saveKeyState(idempotency.forget(binding))
    }

    let result: SettleResult
    try {
      result = await settle(hooks)
    } catch (error) {
      if (isBegun) await end(isSent)
      throw error
    }
    const isPaying = result.success || result.status === 'pending'
    if (isBegun) await end(isPaying || (isSent && result.status !== 'failed'))
    else if (isPaying) await saveKeyState(bindSent(binding))
    else await rejectMismatch(binding)
    return result
  }
}
