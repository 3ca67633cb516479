import type { Address } from '@ton/core'

export interface PaymentQuery {
  readonly payer: Address
  /** Hash of the signed body, independent of relayer and signature bytes. */
  readonly signedHash: Buffer
  readonly asset: Address
  readonly payTo: Address
  readonly amount: bigint
  readonly since: Date
}
