import type { Address } from '@ton/core'

/** Which payment is looked for on chain. */
export interface PaymentQuery {
  readonly payer: Address
  /** What the payer's signature signs; whoever brought it, and with whatever signature bytes. */
  readonly signedHash: Buffer
  readonly asset: Address
  readonly payTo: Address
  readonly amount: bigint
  /** Nothing of it happened before. */
  readonly since: Date
}
