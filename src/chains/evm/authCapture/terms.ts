import { type Hex, zeroAddress } from 'viem'
import type { PaymentRequirements } from '../../../protocol/payment.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type Deployment, findDeployment, maxUint48 } from './contracts.js'

/** Who operates a payment, and who decides what becomes of its hold. */
export interface Authority {
  readonly deployment: Deployment
  /** `extra.captureAuthorizer`: the account of ours that the payer names. */
  readonly operator: Hex
  readonly receiverAuthorizer: Hex
  readonly policy: Hex
  readonly operatorType: unknown
}

/** `extra` of the requirements of a payment that is collected. */
export interface CollectTerms extends Authority {
  /** `escrow`: the amount is held; `authorization`: it is paid at once. */
  readonly flow: 'escrow' | 'authorization'
  readonly method: 'eip3009' | 'permit2'
  readonly captureDeadline: bigint
  readonly refundDeadline: bigint
  readonly feeRecipient: Hex
  readonly minFeeBps: number
  readonly maxFeeBps: number
}

type Extra = PaymentRequirements['extra']

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/** Zero where the field is absent; null for anything but an address. */
const readOptional = (value: unknown): Hex | null => (isAbsent(value) ? zeroAddress : readAddress(value))

export const readAuthority = (extra: Extra): Authority | RevertReason => {
  const operator = readAddress(extra.captureAuthorizer)
  if (operator === null) return wrongExtra('captureAuthorizer', 'an EVM address')
  const receiverAuthorizer = readOptional(extra.receiverAuthorizer)
  if (receiverAuthorizer === null) return wrongExtra('receiverAuthorizer', 'an EVM address')
  const policy = readOptional(extra.policy)
  if (policy === null) return wrongExtra('policy', 'an EVM address')
  const escrow = isAbsent(extra.authCaptureEscrow) ? null : readAddress(extra.authCaptureEscrow)
  const isUnreadable = escrow === null && !isAbsent(extra.authCaptureEscrow)
  const deployment = isUnreadable ? null : findDeployment(escrow)
  if (deployment === null) return wrongExtra('authCaptureEscrow', 'a published escrow, or absent')
  return { deployment, operator, receiverAuthorizer, policy, operatorType: extra.operatorType }
}

/** Without a receiverAuthorizer the hold could only be reclaimed by the payer, after the resource was delivered. */
export const readCollectTerms = (extra: Extra): CollectTerms | RevertReason => {
  const authority = readAuthority(extra)
  if ('reason' in authority) return authority
  const captureDeadline = readUint(extra.captureDeadline, maxUint48)
  if (captureDeadline === null) return wrongExtra('captureDeadline', 'Unix seconds')
  const refundDeadline = readUint(extra.refundDeadline, maxUint48)
  if (refundDeadline === null) return wrongExtra('refundDeadline', 'Unix seconds')
  const feeRecipient = readAddress(extra.feeRecipient)
  if (feeRecipient === null) return wrongExtra('feeRecipient', 'an EVM address')
  const minFeeBps = readUint(extra.minFeeBps, maxUint16)
  if (minFeeBps === null) return wrongExtra('minFeeBps', 'basis points')
  const maxFeeBps = readUint(extra.maxFeeBps, maxUint16)
  if (maxFeeBps === null) return wrongExtra('maxFeeBps', 'basis points')
  const flow = readFlow(extra)
  if (flow === null) return { reason: 'invalid_auth_capture_evm_unsupported_payment_flow' }
  if (isSameAddress(authority.receiverAuthorizer, zeroAddress)) {
    return { reason: 'invalid_auth_capture_evm_missing_receiver_authorizer' }
  }
  const method = isAbsent(extra.assetTransferMethod) ? 'eip3009' : extra.assetTransferMethod
  if (method !== 'eip3009' && method !== 'permit2') {
    return { reason: 'invalid_auth_capture_evm_unsupported_asset_transfer_method' }
  }
  // The token's domain is what an ERC-3009 authorization is signed for.
  if (method === 'eip3009' && (typeof extra.name !== 'string' || typeof extra.version !== 'string')) {
    return wrongExtra('name and extra.version', "those of the token's EIP-712 domain")
  }
  return {
    ...authority,
    flow,
    method,
    captureDeadline,
    refundDeadline,
    feeRecipient,
    minFeeBps: Number(minFeeBps),
    maxFeeBps: Number(maxFeeBps),
  }
}

const maxUint16 = 2n ** 16n - 1n

const wrongExtra = (field: string, expected: string): RevertReason => ({
  reason: 'invalid_auth_capture_evm_extra',
  message: `paymentRequirements.extra.${field}: must be ${expected}`,
})

/** Earlier servers state `autoCapture`: what they expect to be charged must not be held instead. */
const readFlow = ({ paymentFlow, autoCapture }: Extra): CollectTerms['flow'] | null => {
  if (isAbsent(paymentFlow)) return autoCapture === true ? null : 'escrow'
  return paymentFlow === 'escrow' || paymentFlow === 'authorization' ? paymentFlow : null
}

/** A whole number as JSON number or decimal digits, at most `highest`; else null. */
export const readUint = (value: unknown, highest: bigint): bigint | null => {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && /^[0-9]{1,78}$/.test(value)
  const number = isNumber || isText ? BigInt(value) : null
  return number !== null && number <= highest ? number : null
}
