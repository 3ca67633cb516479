import type { Address, Hex } from 'viem'
import {
  type AuthorizationOverrides,
  authorization,
  randomAddress,
  unixNow,
  type WireAuthorization,
} from './authorization.js'
import type { LocalChain } from './localChain.js'
import { type PayerWallet, signTransferAuthorization } from './wallets.js'

/** Does not require a running chain. */
export type PaymentChain = Pick<LocalChain, 'network' | 'token'>

/** PaymentRequirements of `exact` on EVM, version 2. */
export interface WireRequirements {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

export interface WireResource {
  readonly url: string
  readonly description: string
  readonly mimeType: string
}

/** Proof of an `exact` payment on EVM. */
interface WireProof {
  readonly signature: Hex
  readonly authorization: WireAuthorization
}

/** The body of `/verify` and `/settle`, version 2. */
export interface ExactPaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly resource: WireResource
    readonly accepted: WireRequirements
    readonly payload: WireProof
  }
  readonly paymentRequirements: WireRequirements
}

export interface ExactPaymentOptions {
  readonly chain: PaymentChain
  readonly wallet: PayerWallet
  readonly payTo?: Address
  /** Required and authorized amount, in smallest units. */
  readonly amount?: bigint | string
  /** Unix seconds: base of the authorization's times. */
  readonly now?: number
  readonly resource?: Partial<WireResource>
  /** Changes before signing. */
  readonly authorization?: AuthorizationOverrides
  /** Changes to the requirements, including the accepted copy. */
  readonly requirements?: Partial<WireRequirements>
  /** Changes to the accepted copy only. */
  readonly accepted?: Partial<WireRequirements>
  /** Replaces the payer's signature. */
  readonly signature?: Hex
}

/** As a resource server sends it to `/verify` and `/settle`. */
export const exactPayment = async (options: ExactPaymentOptions): Promise<ExactPaymentBody> => {
  const { chain, wallet, payTo = randomAddress(), amount = 10_000n, now = unixNow() } = options
  const { name, version, verifyingContract } = chain.token
  const requirements: WireRequirements = {
    scheme: 'exact',
    network: chain.network,
    amount: String(amount),
    asset: verifyingContract,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version },
    ...options.requirements,
  }
  const signed = authorization({
    from: wallet.address,
    to: payTo,
    value: String(amount),
    now,
    ...options.authorization,
  })
  const signature =
    options.signature ??
    (await signTransferAuthorization({ wallet, domain: chain.token, authorization: signed }))
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: {
        url: 'https://merchant.example/report',
        description: 'A report',
        mimeType: 'application/json',
        ...options.resource,
      },
      accepted: { ...requirements, ...options.accepted },
      payload: { signature, authorization: signed },
    },
    paymentRequirements: requirements,
  }
}

// Not imported from the product, so that a test can detect a difference.
const versionOneNames = new Map([
  ['eip155:1', 'ethereum'],
  ['eip155:8453', 'base'],
  ['eip155:84532', 'base-sepolia'],
  ['eip155:137', 'polygon'],
  ['eip155:80002', 'polygon-amoy'],
  ['eip155:43114', 'avalanche'],
  ['eip155:43113', 'avalanche-fuji'],
  ['eip155:11155111', 'sepolia'],
])

/** Version 1: short network names, `maxAmountRequired`, the resource in the requirements. */
export const toV1 = ({ paymentPayload, paymentRequirements }: ExactPaymentBody) => {
  const network = versionOneNames.get(paymentRequirements.network)
  if (network === undefined) throw new Error(`Version 1 has no name for ${paymentRequirements.network}`)
  const { amount, ...requirements } = paymentRequirements
  const { url, description, mimeType } = paymentPayload.resource
  return {
    x402Version: 1,
    paymentPayload: {
      x402Version: 1,
      scheme: paymentPayload.accepted.scheme,
      network: versionOneNames.get(paymentPayload.accepted.network) ?? paymentPayload.accepted.network,
      payload: paymentPayload.payload,
    },
    paymentRequirements: {
      ...requirements,
      network,
      maxAmountRequired: amount,
      resource: url,
      description,
      mimeType,
    },
  } as const
}

/** Flat format: the authorization's fields beside the signature, times as numbers. */
export const toFlat = ({ paymentPayload, paymentRequirements }: ExactPaymentBody) => {
  const { accepted, payload } = paymentPayload
  const { from, to, value, nonce, validAfter, validBefore } = payload.authorization
  const { amount, ...requirements } = paymentRequirements
  return {
    paymentPayload: {
      payVersion: 2,
      scheme: accepted.scheme,
      network: accepted.network,
      payload: {
        from,
        to,
        value,
        nonce,
        signature: payload.signature,
        validAfter: Number(validAfter),
        validBefore: Number(validBefore),
      },
    },
    paymentRequirements: { ...requirements, maxAmountRequired: amount },
  } as const
}
