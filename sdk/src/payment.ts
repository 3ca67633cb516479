import type { components } from './schema.js'

export type Payment = components['schemas']['PaymentRequest']
export type VerifyResult = components['schemas']['VerifyResult']
export type SettleResult = components['schemas']['SettleResult']
