import type { BlockReference, Closing, Recorder, Settlement } from '../ports/settlementJournal.js'
import type { JsonObject } from '../protocol/jsonObject.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'

/** A scheme on a network, as `/supported` names it. */
export interface Kind {
  readonly scheme: string
  readonly network: string
  /** What clients need to know to sign, such as a fee payer. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What verification found. A payer's mistake is a value, never an exception. */
export type Verification = Authorized | Refusal

/** A payment that can be settled, as far as the chain can say now, and how to settle it. */
export interface Authorized {
  readonly isValid: true
  readonly payer: string
  /** Equals what `identify` reads from the payload. */
  readonly authorizationId: string
  /** What the payer authorized at most, in smallest units. */
  readonly authorizedAmount: bigint
  /** What settlement will move: at most `authorizedAmount`, and 0 where the authorization is only used up. */
  readonly amount: bigint
  /** From when on the chain refuses the authorization; null where the chain knows no such time. */
  readonly expiresAt: Date | null
  /** What `resolve` needs beside the row's own columns; stored before anything is sent. */
  readonly details: JsonObject
  /**
   * Carries out what was verified, and checks again what time can change. Records, then sends. Throws only before
   * anything was recorded; after that, an unknown outcome is `pending`. Verify-only schemes record and send nothing.
   */
  settle(recorder: Recorder, options: SettleOptions): Promise<Outcome>
}

/** A payment that is refused. */
export interface Refusal {
  readonly isValid: false
  /** Null until the payload is readable enough to name one. */
  readonly payer: string | null
  readonly reason: Reason
  /** More specific than the reason's own sentence. */
  readonly message?: string
}

/** How a settlement stands. `pending`: sent, fate unknown. `failed`: proven that no money moved and none can. */
export type Outcome = Closing | { readonly state: 'pending'; readonly transaction: string }

/**
 * How a block stands. `final`: it will not be taken back. `canonical`: it is there, and could be. `orphaned`: the network
 * has another one in its place. `unknown`: the nodes cannot tell, or do not agree.
 */
export type BlockStatus = 'final' | 'canonical' | 'orphaned' | 'unknown'

/** How a payment is verified. */
export interface VerifyOptions {
  /** False once the caller is gone: then the chain need not be asked. */
  readonly isAwaited: () => boolean
}

/** How a payment is settled. */
export interface SettleOptions {
  /** Ends the wait for the outcome, never the settlement. */
  readonly waitUntil: AbortSignal
}

/** What a payment is on one network: verified, settled and, after a crash, resolved. */
export interface Scheme {
  readonly kind: Kind
  /** Our own addresses that may send or co-sign on this network. */
  readonly signers: readonly string[]
  /** The authorization's identity, from the payload alone; null when it cannot be read. */
  identify(payment: Payment): string | null
  /** Throws only when the chain cannot be asked, or `isAwaited` turned false. Has no deadline of its own. */
  verify(payment: Payment, options: VerifyOptions): Promise<Verification>
  /** What became of a recorded settlement, from its row alone: the process that recorded it may be gone. */
  resolve(settlement: Settlement, signal: AbortSignal): Promise<Outcome>
  /** Whether the block of an `Outcome` is still on the chain. Networks that take nothing back say `final`. */
  getBlockStatus(block: BlockReference, signal: AbortSignal): Promise<BlockStatus>
}
