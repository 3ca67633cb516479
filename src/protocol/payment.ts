import type { Fields } from './fields.js'
import type { Reason } from './reasons.js'

export interface PaymentRequirements {
  readonly scheme: string
  /** CAIP-2 identifier. */
  readonly network: string
  /** Smallest units of the asset. Scheme `upto`: the maximum; at settle without `settleAmount`, the charge (x402). */
  readonly amount: bigint
  /** Minimum that may be settled, for schemes that settle a part; else null. */
  readonly minAmount: bigint | null
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** Usage as stated by the resource server. */
export interface UsageDetails {
  readonly unitsConsumed?: number | undefined
  readonly unitPrice?: string | undefined
  readonly unitType?: string | undefined
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

/** `requirements` are authoritative; `proof` is what the payer signed. */
export interface Payment {
  readonly version: 1 | 2
  /** Network name as sent by the caller; responses repeat it. */
  readonly callerNetwork: string
  readonly requirements: PaymentRequirements
  /** Scheme-specific and untrusted: each scheme parses it itself. */
  readonly proof: Readonly<Record<string, unknown>>
  /** `paymentPayload.payer`, beside the proof: only the sandbox reads it. */
  readonly statedPayer?: string
  readonly resource: string | null
  /** Amount to settle, for schemes that settle a part; else null. `exact` ignores it. */
  readonly settleAmount: bigint | null
  /** Amount of the terms that the client accepted. Scheme `upto`: at least `requirements.amount`. Null without terms. */
  readonly acceptedAmount: bigint | null
  readonly usageDetails: UsageDetails | null
  /** Protocol extensions by key; what the requirements say overrides what the payload says. Untrusted. */
  readonly extensions: Fields
  /** The same, apart: what the resource server declares, and what the client sent. Untrusted. */
  readonly declaredExtensions: Fields
  readonly clientExtensions: Fields
  /** What the 402 answer says of the resource: the object `resource` of version 2, the requirements of version 1. */
  readonly resourceDetails: Fields
}

/** Of a payment that this service writes itself: no server and no client states anything beside the proof. */
export const statedByNone = {
  resource: null,
  settleAmount: null,
  acceptedAmount: null,
  usageDetails: null,
  extensions: {},
  declaredExtensions: {},
  clientExtensions: {},
  resourceDetails: {},
} as const satisfies Partial<Payment>

export interface RefusedPayment {
  readonly callerNetwork: string
  readonly reason: Reason
  /** More specific than the message of the reason, such as the invalid field. */
  readonly message?: string
  /** For an explanation, where other rules can be checked all the same. */
  readonly payment?: Payment
}
