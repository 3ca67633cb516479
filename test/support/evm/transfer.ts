import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  multicall3Abi,
  parseErc6492Signature,
  parseSignature,
} from 'viem'
import { multicall3Address, usdcAbi } from './localChain.js'
import type { ExactPaymentBody } from './payment.js'

/** Call arguments for `chain.send`. */
interface TransferCall {
  readonly to: Address
  readonly data: Hex
}

/** Form of `transferWithAuthorization`: only EOAs can use v, r and s. */
export type TransferForm = 'bytes' | 'vrs'

const encodeTransferData = (body: ExactPaymentBody, signature: Hex, form: TransferForm): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = body.paymentPayload.payload.authorization
  const terms = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const
  if (form === 'bytes') {
    return encodeFunctionData({
      abi: usdcAbi,
      functionName: 'transferWithAuthorization',
      args: [...terms, signature],
    })
  }
  const { yParity, r, s } = parseSignature(signature)
  return encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [...terms, 27 + yParity, r, s],
  })
}

/**
 * Executes a payment without the facilitator; the same transaction deploys the payer's wallet if necessary.
 */
export const encodeTransfer = (body: ExactPaymentBody, form: TransferForm = 'bytes'): TransferCall => {
  const asset = getAddress(body.paymentRequirements.asset)
  const { address, data, signature } = parseErc6492Signature(body.paymentPayload.payload.signature)
  const transfer = encodeTransferData(body, signature, form)
  if (address === undefined || data === undefined) return { to: asset, data: transfer }
  return {
    to: multicall3Address,
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [
        [
          { target: address, allowFailure: false, callData: data },
          { target: asset, allowFailure: false, callData: transfer },
        ],
      ],
    }),
  }
}
