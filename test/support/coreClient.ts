import type { Core } from '../../src/compose.js'
import type { Explanation } from '../../src/protocol/explanations.js'
import type { SettleResult, VerifyResult } from '../../src/protocol/results.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'

export interface CoreClient {
  readonly core: Core
  verify(body: unknown, caller?: string): Promise<VerifyResult>
  explain(body: unknown, caller?: string): Promise<Explanation>
  settle(body: unknown, caller?: string): Promise<SettleResult>
  reconcile(): Promise<void>
}

export const createCoreClient = (core: Core): CoreClient => {
  const { verifyPayment, explainPayment, settlePayment } = core.useCases.core
  return {
    core,
    verify: (body, caller = 'anonymous') =>
      verifyPayment({
        body: wirePaymentRequest.parse(body),
        caller,
        quota: null,
        isAwaited: () => true,
      }),
    explain: (body, caller = 'anonymous') => explainPayment({ body, caller, isAwaited: () => true }),
    settle: async (body, caller = 'anonymous') => {
      const request = { body: wirePaymentRequest.parse(body), caller, quota: null, idempotencyKey: null }
      return (await settlePayment(request)).result
    },
    reconcile: () => core.reconcileSettlements(),
  }
}
