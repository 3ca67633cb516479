export const signatureSchemes = ['eip191', 'eip712', 'eip1271', 'eip6492', 'siws', 'sep10'] as const

export type SignatureScheme = (typeof signatureSchemes)[number]

/** Why a wallet sign-in is refused. */
export const signInReasons = {
  siwx_malformed: 'The proof is not a JSON object with the fields of a sign-in, or base64 of one',
  siwx_too_large: 'The proof is larger than 16 kB',
  siwx_field_invalid: 'A field holds a line break, a control character or a value of the wrong form',
  siwx_version_unsupported: 'The version of the message is not 1',
  siwx_domain_mismatch: 'The message was signed for another domain',
  siwx_uri_mismatch: 'The message was signed for another URI',
  siwx_resources_mismatch: 'The message does not list a required resource',
  siwx_chain_mismatch: 'The chain of the message is not one that the server accepts',
  siwx_chain_unsupported: 'Signatures of wallets of this chain cannot be verified',
  siwx_scheme_mismatch: 'The signature scheme does not exist on the chain of the message',
  siwx_wallet_unverifiable:
    'A contract wallet can be verified only on a network that this facilitator serves',
  siwx_address_invalid: 'The address is not an account of the chain, or its checksum is wrong',
  siwx_issued_in_future: 'issuedAt is in the future',
  siwx_too_old: 'issuedAt is older than the maximum age',
  siwx_expired: 'The message has expired',
  siwx_not_yet_valid: 'notBefore is in the future',
  siwx_nonce_mismatch: 'The nonce is not the one that the server expects',
  siwx_nonce_unknown: 'The nonce was not issued for this domain by this facilitator, or has expired',
  siwx_nonce_used: 'The nonce was used before',
  siwx_signature_invalid: 'The signature is not one of the address over this message',
} as const satisfies Readonly<Record<string, string>>

export type SignInReason = keyof typeof signInReasons

export interface SignInProblem {
  readonly reason: SignInReason
  /** Field of the proof, when one is at fault. */
  readonly field?: string
}

/** What a wallet signs, in every dialect. Null: absent from the message. */
export interface SignInFields {
  readonly domain: string
  /** As it appears in the message. */
  readonly address: string
  readonly statement: string | null
  readonly uri: string
  readonly version: string
  /** CAIP-2 identifier. */
  readonly chainId: string
  readonly nonce: string
  /** Times are text, because the text is signed. */
  readonly issuedAt: string
  readonly expirationTime: string | null
  readonly notBefore: string | null
  readonly requestId: string | null
  readonly resources: readonly string[] | null
}

export interface SignInProof {
  readonly fields: SignInFields
  readonly signature: string
  /** As the client states it; not signed. Null: not stated. */
  readonly scheme: SignatureScheme | null
}

/** EIP-712 typed data of a sign-in (t402). */
export interface SignInTypedData {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly message: {
    readonly domain: string
    readonly address: string
    readonly statement: string
    readonly uri: string
    readonly version: string
    readonly chainId: string
    readonly nonce: string
    readonly issuedAt: string
    readonly expirationTime: string
    readonly resources: readonly string[]
  }
}

/** It bounds a proof on the wire, in characters, before it is decoded. */
export const maxProofLength = 16_384

/** 8 kB in hex. */
export const maxSignatureLength = 16_386

/** The longest time for which a caller may accept a message: nonces are remembered this long. */
export const maxSignInAgeSeconds = 86_400

export const maxResources = 32
export const maxUriLength = 2_048
export const maxStatementLength = 1_000

/** EIP-4361 allows letters and digits; UUIDs and base64url are in use. */
export const nonceForm = /^[A-Za-z0-9_-]{8,128}$/

/** Host of a URL, with its port unless it is the default. */
export const domainForm =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

/** CAIP-2; the numbers of EVM chains are written without leading zeros. */
export const chainForm = /^(?!eip155:(?![1-9][0-9]{0,14}$))[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,64}$/

/** Would let one field continue as the next line of the message, or have no UTF-8 form of its own. */
export const isSingleLine = (text: string): boolean => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
