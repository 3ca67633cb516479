import type { BlockReference, Closing, Recorder, Settlement } from '../ports/settlementJournal.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'

/** A scheme on a network, as `/supported` names it. */
export interface Kind {
  readonly scheme: string
  readonly network: string
  /** What clients need to know to sign, such as a fee payer. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What a verification says of a payment. A payer's mistake is a value, never an exception. */
export type Verdict = ValidVerdict | InvalidVerdict

/** A payment that can be settled, as far as the chain can tell now. */
export interface ValidVerdict {
  readonly isValid: true
  readonly payer: string
  readonly authorizationId: string
  /** What settlement will move, in smallest units. */
  readonly amount: bigint
  readonly expiresAt: Date | null
}

/** A payment that is refused. */
export interface InvalidVerdict {
  readonly isValid: false
  /** Null until the payload is readable enough to name one. */
  readonly payer: string | null
  readonly reason: Reason
  /** Says more than the reason's own sentence, where there is more to say. */
  readonly message?: string
}

/** How a settlement stands. `pending`: sent, fate unknown. `failed`: proven that no money moved and none can. */
export type Outcome = Closing | { readonly state: 'pending'; readonly transaction: string }

/**
 * How a block stands. `final`: it will not be taken back. `canonical`: it is there, and could be. `orphaned`: the network
 * has another one in its place. `unknown`: the nodes cannot tell, or do not agree.
 */
export type BlockStatus = 'final' | 'canonical' | 'orphaned' | 'unknown'

/** What a verification is for. */
export interface VerifyOptions {
  /** False once nobody waits for the verdict any more. */
  readonly isAwaited: () => boolean
  /** Whether `settle` of the very same payment follows: then what was found out is worth keeping for it. */
  readonly precedesSettle: boolean
}

/** What settles beside the payment itself. */
export interface SettleOptions {
  /** Ends the wait for the outcome, never the settlement. */
  readonly waitUntil: AbortSignal
}

/** What a payment is on one network: judged, settled and, after a crash, resolved. */
export interface Scheme {
  readonly kind: Kind
  /** Our own addresses that may send or co-sign on this network. */
  readonly signers: readonly string[]
  /** The authorization's identity, from the payload alone; null when it cannot be read. */
  identify(payment: Payment): string | null
  /**
   * Throws only when the chain cannot be asked, or need not be asked any more because nobody awaits the verdict.
   * How long that takes is for the caller to bound.
   */
  verify(payment: Payment, options: VerifyOptions): Promise<Verdict>
  /** Throws only before anything was recorded; after that, what is not known is `pending`. */
  settle(payment: Payment, recorder: Recorder, options: SettleOptions): Promise<Outcome>
  /** The reconciler's one question: what became of a recorded settlement? */
  resolve(settlement: Settlement, signal: AbortSignal): Promise<Outcome>
  /** Whether the block of an `Outcome` is still on the chain. Networks that take nothing back say `final`. */
  getBlockStatus(block: BlockReference, signal: AbortSignal): Promise<BlockStatus>
}
