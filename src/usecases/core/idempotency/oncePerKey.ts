import { AppError } from '../../../errors.js'
import type {
  IdempotencyState,
  IdempotencyStore,
  IdempotentRequest,
} from '../../../ports/idempotencyStore.js'
import type { Logger } from '../../../ports/logger.js'
import { describeReason, type Reason, readReason } from '../../../protocol/reasons.js'
import { type SettleResult, settleResult } from '../../../protocol/results.js'
import { type SettleAttempt, withShortDeadline } from '../settle/settlementContext.js'
import type { SettleResponse } from '../useCases.js'

interface KeyedRequest {
  readonly idempotent: IdempotentRequest
  /** Errors name it: `Idempotency-Key`, or the name of an extension. */
  readonly name: string
}

/**
 * `started`: the caller does the work, and ends the run in the store. Throws REQUEST_IN_PROGRESS, PAYLOAD_MISMATCH,
 * PREVIOUS_REQUEST_FAILED or IDEMPOTENCY_UNAVAILABLE.
 */
type BeginOncePerKey = (
  request: KeyedRequest,
) => Promise<Extract<IdempotencyState, { readonly state: 'started' | 'answered' }>>

const retryAfterSeconds = 2

export const createBeginOncePerKey = (idempotency: Pick<IdempotencyStore, 'begin'>): BeginOncePerKey => {
  const begin = async (idempotent: IdempotentRequest): Promise<IdempotencyState> => {
    try {
      return await idempotency.begin(idempotent)
    } catch (cause) {
      throw asUnavailable(cause)
    }
  }

  return async ({ idempotent, name }) => {
    const earlier = await begin(idempotent)
    switch (earlier.state) {
      case 'started':
      case 'answered':
        return earlier
      case 'running':
        throw new AppError('REQUEST_IN_PROGRESS', `A request with this ${name} is still in progress`, {
          retryAfterSeconds,
        })
      case 'mismatch':
        throw new AppError('PAYLOAD_MISMATCH', `This ${name} was used with another payload`)
      case 'failed':
        throw asPreviousFailure(name, earlier.reason)
    }
  }
}

const asUnavailable = (cause: unknown): AppError =>
  new AppError('IDEMPOTENCY_UNAVAILABLE', 'The idempotency store did not answer', {
    cause,
    retryAfterSeconds,
  })

const asPreviousFailure = (name: string, reason: Reason | null): AppError => {
  const message = `The request with this ${name} failed permanently`
  if (reason === null) return new AppError('PREVIOUS_REQUEST_FAILED', message)
  return new AppError('PREVIOUS_REQUEST_FAILED', `${message}: ${describeReason(reason)}`, { reason })
}

/** Failures are logged only: what was done under the key is recorded, and a key that was not ended is taken over. */
export const createSaveKeyState =
  (logger: Logger) =>
  async (scope: string, work: Promise<void>): Promise<void> => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ scope, error }, 'idempotency.write_failed')
    }
  }

interface KeyedSettle extends KeyedRequest {
  /** Whether the key stays bound to its body after a refusal before the claim, and keeps a final failure. */
  readonly staysBound: { readonly refused: boolean; readonly failed: boolean }
  settle(): Promise<SettleResult>
  /** Instead of the stored success. Absent: it is replayed. */
  settleAgain?(): Promise<SettleResult>
}

/** Settles at most once under a key, and always returns the same response; what may succeed later is judged again. */
type SettleOncePerKey = (keyed: KeyedSettle) => Promise<SettleResponse>

export const createSettleOncePerKey = (idempotency: IdempotencyStore, logger: Logger): SettleOncePerKey => {
  const beginOncePerKey = createBeginOncePerKey(idempotency)
  const saveKeyState = createSaveKeyState(logger)

  const settleFirst = async ({ idempotent, staysBound, settle }: KeyedSettle): Promise<SettleResult> => {
    let result: SettleResult
    try {
      result = await settle()
    } catch (error) {
      await saveKeyState(idempotent.caller, idempotency.forget(idempotent))
      throw error
    }
    if (result.success) await saveKeyState(idempotent.caller, idempotency.answer(idempotent, result))
    else if (result.status === 'pending')
      await saveKeyState(idempotent.caller, idempotency.release(idempotent))
    // The other request's settlement may still be open: the next retry reports its outcome.
    else if (result.errorReason === 'duplicate_settlement')
      await saveKeyState(idempotent.caller, idempotency.forget(idempotent))
    else {
      const reason = readReason(result.errorReason ?? null)
      const isDecided = result.settlementId !== undefined || staysBound.refused
      const isFinal = isDecided && result.retryable === false
      if (isFinal && reason !== null && staysBound.failed)
        await saveKeyState(idempotent.caller, idempotency.fail(idempotent, reason))
      else if (staysBound.refused) await saveKeyState(idempotent.caller, idempotency.release(idempotent))
      else await saveKeyState(idempotent.caller, idempotency.forget(idempotent))
    }
    return result
  }

  return async (keyed) => {
    const earlier = await beginOncePerKey(keyed)
    switch (earlier.state) {
      case 'started':
        return { result: await settleFirst(keyed), isReplayed: false }
      case 'answered':
        return keyed.settleAgain === undefined
          ? { result: settleResult.parse(earlier.response), isReplayed: true }
          : { result: await keyed.settleAgain(), isReplayed: false }
    }
  }
}

export type BindingHooks = Pick<SettleAttempt, 'onClaimed' | 'onSent'>

/**
 * Settles a payment whose key belongs to all payments to one recipient, and binds the key to its body: from the claim
 * on, and for the life of the key once the payment was sent. A request that sends nothing leaves no binding, so that
 * a caller who guesses a key must pay the recipient to occupy it. Throws PAYLOAD_MISMATCH if another body is bound.
 */
type SettleBound = (
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
      if (holds) void saveKeyState(binding.caller, idempotency.release(binding))
      else await saveKeyState(binding.caller, idempotency.forget(binding))
    }

    let result: SettleResult
    try {
      result = await settle(hooks)
    } catch (error) {
      if (isBegun) await end(isSent)
      throw error
    }
    // A success without a settlement cost its caller nothing.
    const isPaying = result.settlementId !== undefined && (result.success || result.status === 'pending')
    if (isBegun) await end(isPaying || (isSent && result.status !== 'failed'))
    else if (isPaying) await saveKeyState(binding.caller, bindSent(binding))
    else await rejectMismatch(binding)
    return result
  }
}
