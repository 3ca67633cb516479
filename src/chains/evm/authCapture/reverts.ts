import { type Hex, toFunctionSelector } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import { readWord } from '../abi/words.js'
import type { CallFailure } from '../rpc/rpc.js'
import { readRevertText } from '../tokens/erc20.js'
import type { ReadAnswers, RevertReason } from '../transactions/settlementCall.js'
import { decodePaymentState } from './contracts.js'
import type { LifecycleProof } from './payload.js'

/* Why a call of the escrow is refused: by the state of the payment, else by the error of its simulation. */

const prefix = 'invalid_auth_capture_evm_'

const errorReasons: readonly (readonly [signature: string, reason: Reason])[] = [
  ['InvalidSender(address,address)', `${prefix}operator_mismatch`],
  ['ZeroAmount()', `${prefix}amount_mismatch`],
  ['AmountOverflow(uint256,uint256)', `${prefix}amount_overflow`],
  ['ExceedsMaxAmount(uint256,uint256)', `${prefix}amount_mismatch`],
  ['AfterPreApprovalExpiry(uint48,uint48)', `${prefix}authorization_expired`],
  ['InvalidExpiries(uint48,uint48,uint48)', `${prefix}deadline_ordering`],
  ['FeeBpsOverflow(uint16)', `${prefix}fee_bps`],
  ['InvalidFeeBpsRange(uint16,uint16)', `${prefix}fee_bps_range`],
  ['FeeBpsOutOfRange(uint16,uint16,uint16)', `${prefix}fee_bps_out_of_range`],
  ['FeeAmountOutOfRange(uint256,uint256,uint256)', `${prefix}fee_bps_out_of_range`],
  ['ZeroFeeReceiver()', `${prefix}zero_fee_receiver`],
  ['InvalidFeeReceiver(address,address)', `${prefix}fee_receiver`],
  ['InvalidCollectorForOperation()', `${prefix}collector`],
  ['TokenCollectionFailed()', `${prefix}token_collection_failed`],
  ['PaymentAlreadyCollected(bytes32)', `${prefix}payment_already_collected`],
  ['AfterAuthorizationExpiry(uint48,uint48)', `${prefix}capture_deadline_expired`],
  ['InsufficientAuthorization(bytes32,uint256,uint256)', `${prefix}insufficient_authorization`],
  ['ZeroAuthorization(bytes32)', `${prefix}zero_authorization`],
  ['AfterRefundExpiry(uint48,uint48)', `${prefix}refund_deadline_expired`],
  ['RefundExceedsCapture(uint256,uint256)', `${prefix}refund_exceeds_capture`],
  // Permit2 refuses what a collector hands it.
  ['InvalidSignature()', `${prefix}signature`],
  ['InvalidSignatureLength()', `${prefix}signature`],
  ['InvalidSigner()', `${prefix}signature`],
  ['InvalidContractSignature()', `${prefix}signature`],
  ['SignatureExpired(uint256)', `${prefix}authorization_expired`],
]

const reasonsBySelector = new Map(
  errorReasons.map(([signature, reason]) => [toFunctionSelector(signature), reason] as const),
)

/** The reason that the escrow's or Permit2's error names; null for any other revert. */
const findErrorReason = (data: Hex | null): Reason | null => {
  const selector = data === null ? undefined : asSelector(data)
  return selector === undefined ? null : (reasonsBySelector.get(selector) ?? null)
}

const asSelector = (data: Hex): Hex => `0x${data.slice(2, 10).toLowerCase()}`

const unanswered: RevertReason = {
  reason: 'invalid_auth_capture_evm_simulation_failed',
  message: 'The escrow does not answer what it knows of the payment',
}

/** An ERC-3009 charge pulls the whole amount and returns the rest. */
export const findCollectContradiction = (
  [state, balance]: ReadAnswers,
  value: bigint,
): RevertReason | null => {
  const payment = decodePaymentState(state)
  // A call of an address without code succeeds, and does nothing.
  if (payment === null) return unanswered
  if (payment.isCollected) return { reason: 'invalid_auth_capture_evm_payment_already_collected' }
  const held = readWord(balance)
  return held !== null && held < value ? { reason: 'invalid_auth_capture_evm_insufficient_balance' } : null
}

/** Errors of the escrow and of Permit2 are named; a token's are texts. */
export const explainCollectRevert = (
  failure: CallFailure,
  reads: ReadAnswers,
  value: bigint,
): RevertReason => {
  const contradiction = findCollectContradiction(reads, value)
  if (contradiction !== null) return contradiction
  const named = findErrorReason(failure.data)
  if (named !== null) return { reason: named }
  const text = readRevertText(failure)
  if (/invalid signature|ecrecover|ECDSA/i.test(text)) return { reason: 'invalid_auth_capture_evm_signature' }
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  return {
    reason: 'invalid_auth_capture_evm_simulation_failed',
    ...(text === '' ? {} : { message: `The call of the escrow fails when it is simulated: ${text}` }),
  }
}

interface Asked {
  readonly proof: LifecycleProof
  /** The operator agreed to pay refunds of the receiver. */
  readonly isFunded: boolean
}

/** The state decides before the simulation. The escrow itself would take a capture from any state that has enough. */
export const findLifecycleContradiction = (
  [answer]: ReadAnswers,
  { proof, isFunded }: Asked,
): RevertReason | null => {
  const state = decodePaymentState(answer)
  if (state === null) return unanswered
  const unexpected = { reason: 'invalid_auth_capture_evm_unexpected_payment_state' } as const
  if (!state.isCollected) return unexpected
  if (proof.type === 'void') {
    return state.capturable === 0n ? { reason: 'invalid_auth_capture_evm_zero_authorization' } : null
  }
  const { amount, expectedCapturable, expectedRefundable } = proof
  if (state.capturable !== expectedCapturable || state.refundable !== expectedRefundable) return unexpected
  const limit = proof.type === 'capture' ? state.capturable : state.refundable
  const exceeded: Reason =
    proof.type === 'capture'
      ? 'invalid_auth_capture_evm_amount_mismatch'
      : 'invalid_auth_capture_evm_refund_exceeds_capture'
  if (amount === 0n) return { reason: 'invalid_auth_capture_evm_amount_mismatch' }
  if (amount > limit) return { reason: exceeded }
  const isUnfunded = proof.type === 'refund' && !isFunded
  return isUnfunded ? { reason: 'invalid_auth_capture_evm_refund_funding_unavailable' } : null
}

export const explainLifecycleRevert = (
  failure: CallFailure,
  reads: ReadAnswers,
  asked: Asked,
): RevertReason => {
  const contradiction = findLifecycleContradiction(reads, asked)
  if (contradiction !== null) return contradiction
  const named = findErrorReason(failure.data)
  if (named !== null) return { reason: named }
  const text = readRevertText(failure)
  // The collector pulls a refund from the operator's allowance and balance.
  const isRefund = asked.proof.type === 'refund'
  return {
    reason: isRefund
      ? 'invalid_auth_capture_evm_refund_funding_unavailable'
      : 'invalid_auth_capture_evm_simulation_failed',
    ...(text === '' ? {} : { message: `The call of the escrow fails when it is simulated: ${text}` }),
  }
}
