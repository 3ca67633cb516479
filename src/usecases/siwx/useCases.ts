import type { SignInDeclarations } from '../../extensions/siwx/declare.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { SignatureScheme } from '../../protocol/siwx.js'

interface NonceRequest {
  readonly domain?: string | undefined
  readonly uri?: string | undefined
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
  readonly statement?: string | undefined
  readonly expiresInSeconds?: number | undefined
  readonly resources?: readonly string[] | undefined
  readonly requestId?: string | undefined
}

interface IssuedNonce {
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime: string
  readonly domain?: string
  readonly uri?: string
  /** Declarations for a 402 response, by key. */
  readonly extensions?: SignInDeclarations
}

export interface VerifyRequest {
  readonly header?: string | undefined
  readonly proof?: unknown
  readonly uri: string
  readonly domain?: string | undefined
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  readonly nonce?: string | undefined
  readonly maxAgeSeconds?: number | undefined
  readonly requireIssuedNonce?: boolean | undefined
}

interface SignedIn {
  readonly isValid: true
  /** In the chain's canonical form. */
  readonly address: string
  readonly chainId: string
  /** CAIP-10. */
  readonly account: string
  readonly domain: string
  readonly uri: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime?: string
  readonly requestId?: string
  readonly statement?: string
  readonly resources: readonly string[]
  readonly signatureScheme: SignatureScheme
}

export interface SiwxUseCases {
  /** Throws INVALID_REQUEST. */
  issueNonce(request: NonceRequest): IssuedNonce
  /** Throws SIGN_IN_FAILED with its reason, and RATE_LIMITED for contract wallets; a proof is accepted once, by whichever instance. */
  verifySignIn(request: VerifyRequest, requester?: Requester): Promise<SignedIn>
}
