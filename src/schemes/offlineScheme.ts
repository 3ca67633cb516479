import type { Requester } from '../ports/rateLimiter.js'
import type { Fields, JsonObject } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'
import type { Trace } from '../protocol/rules/rules.js'
import type { Network, Token } from './network.js'
import type { Authorized, Kind, KindTerms, Refusal, Scheme, SettledState } from './scheme.js'

/**
 * A scheme on one network, judged by what needs no chain: structure, recipient, asset, amount, times and signatures of
 * the payer's own key. Balances, nonces and contract wallets are unknown to it. The sandbox settles by it.
 */
export interface OfflineScheme
  extends Pick<Scheme, 'describeAsset' | 'identify' | 'continues' | 'channelStreams'> {
  readonly kind: Kind
  /** As in `KindTerms`. */
  readonly extra: KindTerms['extra']
  /** That of `kind`; the network's schemes share it. */
  readonly network: OfflineNetwork
  /** The payer in the place where clients of the scheme name it, unproven; null if it is unreadable. Never throws. */
  findPayer(payment: Payment): string | null
  read(payment: Payment, phase: OfflinePhase): Promise<OfflineAuthorization | Refusal>
  /** Absent: a payment moves its amount, and what was paid before does not matter. */
  readonly contract?: OfflineContract
}

/**
 * A contract whose state decides about later payments. The sandbox's database has it. Payers without keys cannot use it: a
 * script does not say what becomes of its state.
 */
export interface OfflineContract {
  /** Why it is refused to payers without keys. */
  readonly keyless: Pick<Refusal, 'reason' | 'message'>
  /** Before anything is recorded. Throws an `AppError` if the sandbox has no room for what the call adds. */
  prepare(call: Fields, requester: Requester | undefined): Promise<void>
  /**
   * Executes the call of a recorded transaction: once, and with the same result each time it is asked again. `amount`: what the
   * recipient got, where the payment does not say it.
   */
  execute(
    call: Fields,
    transaction: string,
  ): Promise<{ readonly amount?: bigint } | { readonly revertedAs: Reason }>
  readonly settledState: SettledState
}

/** What is known of a network without its chain. */
export interface OfflineNetwork extends Pick<Network, 'vouchers' | 'routers'> {
  /** CAIP-2 identifier. */
  readonly id: string
  /** Address that the sandbox announces as signer, spender or fee payer; no key exists for it. */
  readonly signers: readonly string[]
  readonly forms: NetworkForms
  listTokens(): readonly Token[]
}

export interface OfflinePhase {
  readonly now: Date
  /** As in `VerifyOptions`. */
  readonly isForSettle: boolean
  /** As in `VerifyOptions`. */
  readonly trace?: Trace | undefined
}

/** How a network writes addresses and hashes. */
export interface NetworkForms {
  /** The form in which answers name payers, from any form of the network; null for anything else. */
  readAddress(text: string): string | null
  /** From 32 bytes. */
  formatAddress(bytes: Uint8Array): string
  /** From 64 bytes, of which a network may use the first 32. */
  formatTransaction(bytes: Uint8Array): string
  /** Null where blocks are final at once, so that payments name none. */
  readonly blocks: BlockForm | null
}

/** 32 bytes as the hash of a block. */
export interface BlockForm {
  format(bytes: Uint8Array): string
  /** Inverse of `format`; null for anything else. */
  read(hash: string): Uint8Array | null
}

export interface OfflineAuthorization
  extends Pick<
    Authorized,
    | 'isValid'
    | 'payer'
    | 'authorizationId'
    | 'authorizedAmount'
    | 'amount'
    | 'atStake'
    | 'expiresAt'
    | 'isHoldable'
    | 'snapshot'
    | 'isReached'
  > {
  /** As in `Authorized`: set where the service is rendered between verify and settle. */
  readonly holds: boolean
  /** What `OfflineContract.execute` takes; set where the scheme has a contract and the payment can be settled. */
  readonly call?: JsonObject
  /** As `sharedOutcome`: it pays for no delivery, and is answered its success each time. */
  readonly isShared?: boolean
}
