import type { Address, Hex } from 'viem'
import { findRecipientRouter } from '../../../src/chains/evm/contracts/routers.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import type { PaymentChain, WireRequirements, WireResource } from './payment.js'
import { type Permit, permit2612TypedData } from './uptoRouter.js'
import type { PayerWallet } from './wallets.js'

interface UptoRequirements extends Omit<WireRequirements, 'amount'> {
  readonly maxAmount: string
  readonly minAmount?: string
}

/** As t402's client sends it: the deadline is text, the nonce a number. */
interface WireUptoProof {
  readonly signature: { readonly v: number; readonly r: Hex; readonly s: Hex } | Hex
  readonly authorization: {
    readonly owner: Address
    readonly spender: Address
    readonly value: string
    readonly deadline: string
    readonly nonce: number
  }
  readonly paymentNonce: Hex
}

/** The body of `/verify`; that of `/settle` has a `settleAmount` beside it. */
export interface UptoPaymentBody {
  readonly t402Version: 2
  readonly paymentPayload: {
    readonly t402Version: 2
    readonly resource: WireResource
    readonly accepted: UptoRequirements
    readonly payload: WireUptoProof
  }
  readonly paymentRequirements: UptoRequirements
}

export interface UptoPaymentOptions {
  readonly chain: PaymentChain
  readonly wallet: PayerWallet
  /** The shared router of the facilitator. */
  readonly router: Address
  readonly payTo?: Address
  readonly maxAmount?: bigint
  /** Whether the permit names the router of the recipient; default true. */
  readonly isBound?: boolean
  /** Changes before signing. */
  readonly permit?: Partial<Permit>
  /** Changes to the requirements, including the accepted copy. */
  readonly requirements?: Partial<UptoRequirements>
  /** Replaces the payer's signature. */
  readonly signature?: Hex
}

/** A payment by a permit whose nonce is 0 unless the changes say otherwise. */
export const uptoPayment = async (options: UptoPaymentOptions): Promise<UptoPaymentBody> => {
  const { chain, wallet, router, payTo = randomAddress(), maxAmount = 10_000n, isBound = true } = options
  const { name, version, verifyingContract } = chain.token
  const spender = isBound ? findRecipientRouter(router, payTo) : router
  const requirements: UptoRequirements = {
    scheme: 'upto',
    network: chain.network,
    maxAmount: String(maxAmount),
    asset: verifyingContract,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version, routerAddress: spender },
    ...options.requirements,
  }
  const permit: Permit = {
    owner: wallet.address,
    spender,
    value: maxAmount,
    nonce: 0n,
    deadline: BigInt(unixNow() + 300),
    ...options.permit,
  }
  const signature =
    options.signature ?? (await wallet.signTypedData(permit2612TypedData(chain.token, permit)))
  return {
    t402Version: 2,
    paymentPayload: {
      t402Version: 2,
      resource: {
        url: 'https://merchant.example/model',
        description: 'Tokens of a model',
        mimeType: 'application/json',
      },
      accepted: requirements,
      payload: {
        signature: signature.length === 132 ? splitSignature(signature) : signature,
        authorization: {
          owner: permit.owner,
          spender: permit.spender,
          value: String(permit.value),
          deadline: String(permit.deadline),
          nonce: Number(permit.nonce),
        },
        paymentNonce: randomHex(32),
      },
    },
    paymentRequirements: requirements,
  }
}

export const splitSignature = (signature: Hex) => ({
  v: Number(`0x${signature.slice(130)}`),
  r: `0x${signature.slice(2, 66)}` as const,
  s: `0x${signature.slice(66, 130)}` as const,
})
