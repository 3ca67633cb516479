import type { components } from './schema.js'

export type Payment = components['schemas']['PaymentRequest']
export type VerifyResult = components['schemas']['VerifyResult']
export type Explanation = components['schemas']['Explanation']
export type SettleResult = components['schemas']['SettleResult']

/** The answer of a settle. `idempotencyKey`: settle the same payment with it again, if the status is `pending`. */
export type Settlement = SettleResult & { readonly idempotencyKey: string }
