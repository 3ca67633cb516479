import type { Recipient } from './recipientStatements.js'

/** Whom a payment pays, in what. */
export interface Purse extends Recipient {
  /** As `normalizeWith` spells it. */
  readonly asset: string
}

export interface OfferedAmount extends Purse {
  readonly amount: bigint
  readonly issuedAt: Date
}

/** Amounts of which each belongs to one offer at a time, over all instances: the primary key decides. */
export interface UniqueAmounts {
  /** A free amount above `base`, by at most `maxTail`; null if none is free. */
  issue(request: {
    readonly purse: Purse
    readonly base: bigint
    readonly maxTail: number
    /** SHA-256 of the secret of the offer. */
    readonly digest: Uint8Array
    readonly issuedAt: Date
    readonly expiresAt: Date
  }): Promise<bigint | null>
  /** The offer of the amount; null if it has another secret, or there is none. */
  find(offer: {
    readonly purse: Purse
    readonly amount: bigint
    readonly digest: Uint8Array
  }): Promise<OfferedAmount | null>
  /** Deletes expired offers. */
  purge(stopped?: AbortSignal): Promise<void>
}
