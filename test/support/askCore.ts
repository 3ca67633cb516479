import type { Core } from '../../src/compose.js'
import type { SettleResult, VerifyResult } from '../../src/protocol/results.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'

/** A core as its callers see it, without HTTP; `anonymous` unless told. */
export interface AskedCore {
  readonly core: Core
  verify(body: unknown, caller?: string): Promise<VerifyResult>
  settle(body: unknown, caller?: string): Promise<SettleResult>
  /** One round of the reconciler. */
  reconcile(): Promise<void>
}

/** Asks a core what its HTTP side would. */
export const askCore = (core: Core): AskedCore => {
  const { verifyPayment, settlePayment } = core.useCases.core
  return {
    core,
    verify: (body, caller = 'anonymous') =>
      verifyPayment({
        body: wirePaymentRequest.parse(body),
        caller,
        quota: null,
        isAwaited: () => true,
      }),
    settle: async (body, caller = 'anonymous') => {
      const request = { body: wirePaymentRequest.parse(body), caller, quota: null, idempotencyKey: null }
      return (await settlePayment(request)).result
    },
    reconcile: () => core.reconcileSettlements(),
  }
}
