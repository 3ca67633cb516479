import { encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { multicallAbi, multicallAddress, tokenAbi } from '../abi/contracts.js'
import { addressWord, numberWord } from '../abi/words.js'
import type { TransferSignature } from '../signatures/signature.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { Authorization } from './payload.js'

/** The transaction that settles a payment, without sender, number and fees. */
export interface Transfer {
  readonly to: Hex
  readonly data: Hex
  /** The most gas that is spent on it. */
  readonly gasCap: bigint
  /** Whether it first deploys the payer's wallet. */
  readonly deploysWallet: boolean
  /** Whether nothing but a token that is vouched for runs, as long as the payer's account has no code. */
  readonly isBatchable: boolean
}

/*
 * A first transfer to a new recipient costs FiatToken about 103k gas by ECDSA; wallet contracts add their own
 * check (Safe about 25k), a deployment about 110k to 300k. Arbitrum counts the price of data in gas as well,
 * which is why the caps are generous. Gas that is not used is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n
const deploymentGasCap = 2_000_000n

/** The most gas that any transfer may use. */
export const highestGasCap = (deploysWallets: boolean): bigint =>
  deploysWallets ? deploymentGasCap : contractGasCap

/** The transfer for a wallet that exists: `transferWithAuthorization` on the token itself. */
export const planTransfer = (
  { address, isListed }: Pick<Token, 'address' | 'isListed'>,
  authorization: Authorization,
  signature: TransferSignature,
): Transfer => ({
  to: address,
  data: encodeTransfer(authorization, signature),
  gasCap: signature.kind === 'ecdsa' ? ecdsaGasCap : contractGasCap,
  deploysWallet: false,
  isBatchable: isListed && signature.kind === 'ecdsa',
})

/**
 * The transfer for a wallet that does not exist yet: factory call and transfer in one transaction, so that
 * neither happens without the other. Both go through Multicall3, which owns nothing: the factory is an
 * address that the payer chose, and it must never be called by an account of ours.
 */
export const planDeployingTransfer = (
  asset: Hex,
  authorization: Authorization,
  signature: TransferSignature & { readonly kind: 'counterfactual' },
): Transfer => ({
  to: multicallAddress,
  data: encodeFunctionData({
    abi: multicallAbi,
    functionName: 'aggregate3',
    args: [
      [
        // Someone may have deployed the wallet a moment before us: the transfer alone decides.
        { target: signature.factory, allowFailure: true, callData: signature.factoryData },
        { target: asset, allowFailure: false, callData: encodeTransfer(authorization, signature) },
      ],
    ],
  }),
  gasCap: deploymentGasCap,
  deploysWallet: true,
  isBatchable: false,
})

/** The token's calldata; smart wallets get the inner signature, never the ERC-6492 wrapper. */
export const encodeTransfer = (
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  signature: TransferSignature,
): Hex =>
  signature.kind === 'ecdsa'
    ? `${ecdsaSelector}${addressWord(from)}${addressWord(to)}${numberWord(value)}${numberWord(validAfter)}${numberWord(
        validBefore,
      )}${nonce.slice(2)}${numberWord(signature.v)}${signature.r.slice(2)}${signature.s.slice(2)}`
    : encodeFunctionData({
        abi: tokenAbi,
        functionName: 'transferWithAuthorization',
        args: [from, to, value, validAfter, validBefore, nonce, signature.bytes],
      })

const [vrsForm] = tokenAbi
const ecdsaSelector = toFunctionSelector(vrsForm)
