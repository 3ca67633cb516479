import type { Promisee } from '../ports/holds.js'
import type { Requester } from '../ports/rateLimiter.js'
import type { Closing, Recorder, Settlement } from '../ports/settlementJournal.js'
import type { JsonObject } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'
import type { PaymentDemands } from '../protocol/recipients.js'
import type { Trace } from '../protocol/rules/rules.js'
import type { ChannelCare } from './channelCare.js'
import type { ChannelStreams } from './channelStreams.js'
import type { HoldAgency } from './holdAgency.js'
import type { Network } from './network.js'
import type { JournalClaims } from './publicProof.js'

export interface Kind {
  readonly scheme: string
  readonly network: string
}

/** What /supported says of a kind beside its names. */
export interface KindTerms {
  /** What clients need in order to sign, such as the fee payer. Undefined: nothing. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** Identifiers of the protocol extensions that work here. */
  readonly extensions: readonly string[]
}

/** A payer's mistake is a value, never an exception. */
export type Verification = Authorized | Refusal

export interface Authorized {
  readonly isValid: true
  readonly payer: string
  /** Equals the result of `identify`. */
  readonly authorizationId: string
  /** Upper bound that the payer signed, in smallest units. */
  readonly authorizedAmount: bigint
  /** Amount that settlement moves: at most `authorizedAmount`; 0 if it only consumes the authorization. */
  readonly amount: bigint
  /** What the chain must prove, where the recipient does not get it: a hold, a refund. Absent: `amount`. */
  readonly atStake?: bigint
  /** When the chain starts to reject the authorization; null if it has no such time. */
  readonly expiresAt: Date | null
  /** Input of `resolve` in addition to the row's columns; stored before anything is sent. */
  readonly details: JsonObject
  /** Absent: nothing is reserved between verify and settle. */
  readonly hold?: Hold | undefined
  /** A scheme with holds can present the same authorization, so that one may have a hold. Absent: only where `hold` is set. */
  readonly isHoldable?: boolean
  /**
   * Before a settlement is promised to a caller, whose service is rendered first. Throws SVC-3002 unless the facilitator's
   * budget has room for it beside what is spent and promised. Counts it as promised until the returned function is called,
   * with whether it was stored as a new promise. Absent: no budget bounds it.
   */
  checkPromise?(promisee: Promisee): Promise<(isStored: boolean) => void>
  /** What /verify answers beside the verdict, such as the state of a channel. Absent: nothing. */
  readonly snapshot?: JsonObject | undefined
  /** The chain shows already what is asked for: /settle answers success, and neither records nor sends. */
  readonly isReached?: true
  /** Its settlement was promised, with the hold that it has. */
  readonly isPromised?: boolean
  /** Whom it was promised to, whose part of the budget it uses. Absent: whoever settles. */
  readonly promisee?: Promisee
  /**
   * Executes the verified payment and rechecks what can have changed. Records, then sends. Throws only before a
   * recording; afterwards an unknown outcome is `pending`. Verify-only schemes neither record nor send.
   */
  settle(recorder: Recorder, options: SettleOptions): Promise<Outcome>
}

/**
 * For schemes whose service is rendered between verify and settle. Until `amount` is settled, it must fit
 * beside what the payer's other authorizations hold.
 */
export interface Hold {
  /** Who draws on the allowance. */
  readonly spender: string
  /**
   * The payer has it in the asset; null if the payer has several accounts, of which `spender` is the one that is
   * spent.
   */
  readonly balance: bigint | null
  /** What the spender may take from the payer; null if the authorization itself grants it. Of an account: its balance. */
  readonly allowance: bigint | null
  /** The settlement grants it first, by a second signature of the payer, which can end earlier than the authorization. */
  readonly isGrantedAtSettle?: boolean
  /**
   * How long it may last without a settlement that is open. Absent: as long as the resource server waits, which the
   * caller decides, and at most until the authorization expires.
   */
  readonly maxMs?: number
}

export interface Refusal {
  readonly isValid: false
  readonly payer: string | null
  readonly reason: Reason
  readonly message?: string
  /** The same request can never succeed, although the reason alone does not say so. */
  readonly isFinal?: true
}

/** `pending`: sent, outcome unknown. `failed`: proven that no funds moved and none can move. */
export type Outcome = Closing | { readonly state: 'pending'; readonly transaction: string }

export interface VerifyOptions {
  /** Before a settlement: also refuses what would expire before it can be settled. */
  readonly isForSettle?: boolean
  /**
   * It was verified before and its funds are held since: rules that a later version or configuration adds for new payments
   * do not refuse it. Absent: it is new.
   */
  readonly isAdmitted?: boolean
  /** False once the caller disconnected: chain reads can be skipped. */
  readonly isAwaited: () => boolean
  /** Account id, or `anonymous`: what a settlement may cost, and what is signed for it, can depend on it. Absent: none. */
  readonly caller?: string | null
  /** Whose share is used where nodes run code that the payer chose. Absent: that of the caller. */
  readonly requester?: Requester | undefined
  /** What the recipient has stated that claims must show; the requirements can ask for more. */
  readonly demands?: PaymentDemands
  /** Transfers that the payer sent itself before this time are refused; it replaces the bound by age. */
  readonly paidAfter?: Date | undefined
  /** Transfers that the payer sent itself after this time are refused. */
  readonly paidBefore?: Date | undefined
  /** For an explanation: every rule is noted, and those run as well that a verification would not reach. */
  readonly trace?: Trace | undefined
}

export interface SettleOptions {
  /** Ends the wait for the outcome, not the settlement. */
  readonly waitUntil: AbortSignal
  /** `anonymous`, or another name: whose part of a budget the settlement uses. None unless stated. */
  readonly caller?: string | null
  /** `checkPromise` passed when its funds were held: no budget refuses it now. */
  readonly isPromised?: boolean
  /**
   * The account for which what it moves is lost if it waits, such as before a capture deadline: a budget of its own pays for it
   * first, of which all that is urgent for one account draws one part. Default, and null: none.
   */
  readonly urgentFor?: string | null
}

export interface ResolveOptions {
  /**
   * True: only reads, for a comparison: the settled amount is what the chain shows, also if it exceeds what the row says.
   * Default: what can still be mined is sent again.
   */
  readonly isReadOnly?: boolean
  /**
   * Claims the row for this process, so that a new transaction can be recorded for it; null if another process has it.
   * Absent: only what was recorded is sent again.
   */
  readonly takeOver?: () => Promise<Recorder | null>
}

/** What requirements in one asset need beside payee and amount. */
export interface AssetTerms {
  readonly asset: string
  /** Null if unknown. */
  readonly decimals: number | null
  /** What clients need in order to sign. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Addresses in `extra`, by field, that replace nothing: a draft that names one gets that of the terms. */
  readonly overruled?: Readonly<Record<string, string>>
}

/** What the payment left on chain, which answers of /settle add to a success. */
export interface SettledState {
  /** Throws if the chain does not answer; the success stands. `amount`: what servers expect in the place of what was received. */
  describe(payment: Payment, transaction: string): Promise<SettledFields>
}

interface SettledFields {
  readonly amount?: string
  readonly extra?: JsonObject
}

/** Judges and moves one payment. What is true of its network whatever scheme pays there is on `Network`. */
export interface Scheme {
  readonly kind: Kind
  /** That of `kind`; the network's schemes share it. */
  readonly network: Network
  /** Null: the chain knows what is spent. Otherwise verify asks the journal. */
  readonly journalClaims: JournalClaims | null
  /** Null: a success says all. */
  readonly settledState: SettledState | null
  /** Absent: it signs for no merchant. */
  readonly agency?: HoldAgency
  /** At the moment. Null: /supported does not list it now. */
  describeKind(): KindTerms | null
  /**
   * Null asset: the network's first token. Null `payTo`: the terms for any recipient. Null if the asset is not settled.
   * Throws only if the chain is unavailable.
   */
  describeAsset(asset: string | null, payTo: string | null): Promise<AssetTerms | null>
  /** Authorization id, from the payload alone; null if the payload is unreadable. */
  identify(payment: Payment): string | null
  /** Absent: it has no channels that this facilitator signs for. */
  readonly channelCare?: ChannelCare
  /** Absent: a stream holds the maximum of an authorization, or the scheme has no streams. */
  readonly channelStreams?: ChannelStreams
  /** Whether it moves what an earlier payment collected: a pause of new payments does not keep it out. Absent: never. */
  continues?(payment: Payment): boolean
  /** Throws only if the chain is unavailable or `isAwaited` is false. Has no deadline of its own. */
  verify(payment: Payment, options: VerifyOptions): Promise<Verification>
  /** Determines the outcome of a recorded settlement from its row alone: after a crash, nothing else is left. */
  resolve(settlement: Settlement, signal: AbortSignal, options?: ResolveOptions): Promise<Outcome>
}
