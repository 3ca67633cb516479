import type { Reason } from './reasons.js'

/** What a resource server demands, in the one form that everything behind the edge works with. */
export interface PaymentRequirements {
  readonly scheme: string
  /** CAIP-2 identifier. */
  readonly network: string
  /** Smallest units of the asset. */
  readonly amount: bigint
  /** The least that may be settled, where the scheme settles a part; null unless stated. */
  readonly minAmount: bigint | null
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** What was used, as the resource server states it. Not checked against `settleAmount`. */
export interface UsageDetails {
  readonly unitsConsumed?: number | undefined
  /** Price per unit, in words of the resource server. */
  readonly unitPrice?: string | undefined
  readonly unitType?: string | undefined
  /** Unix seconds. */
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

/** A payment as it was put before us: the requirements rule, `proof` is what the payer signed. */
export interface Payment {
  readonly version: 1 | 2
  /** The network as the caller spelled it; answers repeat it. */
  readonly callerNetwork: string
  readonly requirements: PaymentRequirements
  /** Scheme-specific and untrusted: every scheme reads it for itself. */
  readonly proof: Readonly<Record<string, unknown>>
  /** The resource that is paid for, where the payment says. */
  readonly resource: string | null
  /** What is to be settled, where the scheme settles a part; null unless stated. `exact` ignores it. */
  readonly settleAmount: bigint | null
  readonly usageDetails: UsageDetails | null
  /** Declared protocol extensions by key: the resource server's own, else what the payload repeats. Untrusted. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** A payment that is refused before any scheme has looked at it. */
export interface RefusedPayment {
  readonly callerNetwork: string
  readonly reason: Reason
  /** A sentence that says more than the reason's own, such as which field is wrong. */
  readonly message?: string
}
