import type { IdempotencyStore } from '../../ports/idempotencyStore.js'
import type { Logger } from '../../ports/logger.js'
import { readReason } from '../../protocol/reasons.js'
import { type SettleResult, settleResult } from '../../protocol/results.js'
import { createBeginOncePerKey, type KeyedRequest } from './beginOncePerKey.js'
import { createSaveKeyState } from './saveKeyState.js'
import type { SettleResponse } from './useCases.js'

export interface KeyedSettle extends KeyedRequest {
  /** Whether the key stays bound to its body after a refusal before the claim, and keeps a final failure. */
  readonly staysBound: { readonly refused: boolean; readonly failed: boolean }
  settle(): Promise<SettleResult>
  /** Instead of the stored success. Absent: it is replayed. */
  settleAgain?(): Promise<SettleResult>
}

/** Settles at most once under a key, and always returns the same response; what may succeed later is judged again. */
export type SettleOncePerKey = (keyed: KeyedSettle) => Promise<SettleResponse>

export const createSettleOncePerKey = (idempotency: IdempotencyStore, logger: Logger): SettleOncePerKey => {
  const beginOncePerKey = createBeginOncePerKey(idempotency)
  const saveKeyState = createSaveKeyState(logger)

  const settleFirst = async ({ idempotent, staysBound, settle }: KeyedSettle): Promise<SettleResult> => {
    let result: SettleResult
    try {
      result = await settle()
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
      const isDecided = result.settlementId !== undefined || staysBound.refused
      const isFinal = isDecided && result.retryable === false
      if (isFinal && reason !== null && staysBound.failed)
        await saveKeyState(idempotency.fail(idempotent, reason))
      else if (staysBound.refused) await saveKeyState(idempotency.release(idempotent))
      else await saveKeyState(idempotency.forget(idempotent))
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
