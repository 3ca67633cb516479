import type { SignatureScheme, SignInTypedData } from '../protocol/siwx.js'
import type { Requester } from './rateLimiter.js'

/** A sign-in message and the signature of the wallet that it names. */
export interface SignedStatement {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly address: string
  /** As the client states it; null: not stated. */
  readonly scheme: SignatureScheme | null
  /** Texts of one meaning: a signature over any of them counts. */
  readonly messages: readonly string[]
  readonly typedData: SignInTypedData | null
  readonly domain: string
  readonly nonce: string
  /** When it is judged. */
  readonly at: Date
  /** In any encoding of the chain; at most 8 kB. */
  readonly signature: string
  /** Whose share is used where a node is asked. Absent: one that all share who are not known. */
  readonly requester?: Requester
}

/**
 * `unsupported`: no wallets of this network can be verified. `wrong_scheme`: the stated scheme is of another chain.
 * `not_configured`: only a node of the network could decide. `unavailable`: no node answered in time.
 */
export type SignatureVerdict =
  /** The scheme that was found; the address in the chain's canonical form. */
  | { readonly state: 'valid'; readonly scheme: SignatureScheme; readonly address: string }
  | {
      readonly state:
        | 'invalid'
        | 'invalid_address'
        | 'unsupported'
        | 'wrong_scheme'
        | 'not_configured'
        | 'unavailable'
    }

/** A text that the owner of an address signed with the wallet's ordinary message signature. */
export interface SignedText {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly address: string
  readonly message: string
  readonly signature: string
  /** As in `SignedStatement`. */
  readonly requester?: Requester
}

/**
 * Loads the code of a chain when it is first needed. A deadline bounds what asks a node. Throws RATE_LIMITED when the
 * requester's share of that is used up, and nothing else.
 */
export interface WalletSignatures {
  verify(statement: SignedStatement): Promise<SignatureVerdict>
  verifyMessage(text: SignedText): Promise<boolean>
}

export interface UsedNonce {
  readonly domain: string
  readonly nonce: string
  /** Until then a message with it could still be accepted. */
  readonly expiresAt: Date
}

/** Nonces of accepted sign-ins, shared by all instances. */
export interface SignInNonces {
  /** False if it was used before: of many at once exactly one is true. */
  use(used: UsedNonce): Promise<boolean>
  /** Deletes expired nonces. */
  purge(stopped?: AbortSignal): Promise<void>
}
