import { type Hex, zeroAddress } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Rule } from '../../../protocol/rules/rules.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { describeAge } from '../explanations.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { bindSalt, type Fee, hashPaymentInfo, maxUint120, type PaymentInfo } from './contracts.js'
import type { CollectProof } from './payload.js'
import type { Authority, CollectTerms } from './terms.js'

/* The rules of a collection, in the order of the specification. They need no chain. */

/** A payment that is to be collected, with what its rules need. */
export interface Candidate extends CollectProof {
  readonly payment: Payment
  readonly token: Token
  readonly terms: CollectTerms
  readonly info: PaymentInfo
  readonly chainId: number
  readonly accounts: readonly Hex[]
  /** Whether a key of ours decides what becomes of the hold. */
  readonly isAgent: boolean
  readonly nowSeconds: bigint
  readonly isForSettle: boolean
  readonly marginSeconds: bigint
}

type Check = Rule<Candidate, RevertReason>['check']

export const refuseIf = (
  isBroken: boolean,
  reason: RevertReason['reason'],
  message?: string,
): RevertReason | null => {
  if (!isBroken) return null
  return message === undefined ? { reason } : { reason, message }
}

/** An account of ours operates the payment, and no code of others stands between it and the escrow. */
export const findOperatorProblem = (
  { operatorType, policy, operator }: Authority,
  accounts: readonly Hex[],
): RevertReason | null => {
  const isDelegated = operatorType === undefined || operatorType === null || operatorType === 'delegated'
  if (!isDelegated) return { reason: 'invalid_auth_capture_evm_unsupported_operator_type' }
  if (!isSameAddress(policy, zeroAddress)) return { reason: 'invalid_auth_capture_evm_policy' }
  const isOurs = accounts.some((account) => isSameAddress(account, operator))
  return refuseIf(!isOurs, 'invalid_auth_capture_evm_operator_not_admitted')
}

const usesMethod: Check = ({ authorization, terms }) =>
  refuseIf(authorization.method !== terms.method, 'invalid_auth_capture_evm_payload_method_mismatch')

/**
 * The client's window must end before the capture deadline only while it can still sign: at settle the deadline is fixed, and
 * a payment that was verified must not be refused because time went on.
 */
const ordersDeadlines: Check = ({ authorization, terms, payment, nowSeconds, isForSettle }) => {
  const { captureDeadline, refundDeadline } = terms
  if (captureDeadline <= nowSeconds + deadlineMargin) {
    return { reason: 'invalid_auth_capture_evm_capture_deadline_expired' }
  }
  const latest = nowSeconds + BigInt(Math.ceil(payment.requirements.maxTimeoutSeconds))
  const isOrdered =
    authorization.validBefore <= captureDeadline &&
    (isForSettle || latest <= captureDeadline) &&
    captureDeadline <= refundDeadline
  return refuseIf(!isOrdered, 'invalid_auth_capture_evm_deadline_ordering')
}

// The contracts compare with block time, which may be ahead.
export const deadlineMargin = 6n

const hasNotExpired: Check = ({ authorization, nowSeconds }) =>
  refuseIf(
    authorization.validBefore <= nowSeconds + deadlineMargin,
    'invalid_auth_capture_evm_authorization_expired',
  )

const hasStarted: Check = ({ authorization, nowSeconds }) =>
  refuseIf(authorization.validAfter > nowSeconds, 'invalid_auth_capture_evm_authorization_not_yet_valid')

export const collectorOf = ({ terms }: Pick<Candidate, 'terms'>): Hex =>
  terms.deployment.collectors[terms.method]

const authorizesCollector: Check = (candidate) =>
  refuseIf(
    !isSameAddress(candidate.authorization.collector, collectorOf(candidate)),
    'invalid_auth_capture_evm_token_collector_mismatch',
  )

const authorizesToken: Check = ({ authorization, token }) =>
  refuseIf(
    authorization.token !== null && !isSameAddress(authorization.token, token.address),
    'invalid_auth_capture_evm_token_mismatch',
  )

/** Checks before the payer's signature, in the order of the specification. */
export const termsRules: readonly Rule<Candidate, RevertReason>[] = [
  { name: 'facilitator', check: ({ terms, accounts }) => findOperatorProblem(terms, accounts) },
  { name: 'transfer_method', check: usesMethod },
  { name: 'capture_deadlines', check: ordersDeadlines },
  {
    name: 'valid_before',
    check: hasNotExpired,
    compare: ({ authorization, nowSeconds }) => ({
      found: describeAge(authorization.validBefore, nowSeconds),
      expected: `more than ${nowSeconds + deadlineMargin}, which is soon`,
    }),
  },
  { name: 'valid_after', check: hasStarted },
  {
    name: 'spender',
    check: authorizesCollector,
    compare: (candidate) => ({
      found: candidate.authorization.collector,
      expected: collectorOf(candidate),
    }),
  },
  { name: 'named_asset', check: authorizesToken },
  {
    name: 'self_payment',
    check: ({ info }) => refuseIf(isSameAddress(info.payer, info.receiver), 'self_payment'),
  },
]

const permitsAmount: Check = ({ authorization, payment, charge }) => {
  const { value } = authorization
  const isExact = value === payment.requirements.amount && value > 0n && value <= maxUint120
  const isWithin = charge === null || (charge.amount > 0n && charge.amount <= value)
  return refuseIf(!isExact || !isWithin, 'invalid_auth_capture_evm_amount_mismatch')
}

export const maxBps = 10_000n

/** What reaches the receiver. Version 1.0 rounds its share down. */
export const subtractFee = (
  amount: bigint,
  { fee, version }: Pick<Fee, 'fee'> & { readonly version: '1.0' | '1.1' },
): bigint => amount - (version === '1.1' ? fee : (amount * fee) / maxBps)

/** Why a fee is outside a payment's terms: its share, its receiver, or both. */
export const findFeeProblem = (
  { fee, feeReceiver }: Fee,
  {
    amount,
    info,
    version,
  }: { readonly amount: bigint; readonly info: PaymentInfo; readonly version: '1.0' | '1.1' },
): 'share' | 'receiver' | 'zero_receiver' | null => {
  const [lowest, highest] = [info.minFeeBps, info.maxFeeBps].map((bps) =>
    version === '1.1' ? (amount * BigInt(bps)) / maxBps : BigInt(bps),
  )
  if (lowest === undefined || highest === undefined || fee < lowest || fee > highest) return 'share'
  const isFixed = !isSameAddress(info.feeReceiver, zeroAddress)
  if (isFixed && !isSameAddress(info.feeReceiver, feeReceiver)) return 'receiver'
  return fee > 0n && isSameAddress(feeReceiver, zeroAddress) ? 'zero_receiver' : null
}

const keepsFeeTerms: Check = ({ info, charge, terms }) => {
  const { minFeeBps, maxFeeBps } = info
  if (minFeeBps > maxFeeBps || BigInt(maxFeeBps) > maxBps) {
    return { reason: 'invalid_auth_capture_evm_fee_bps_out_of_range' }
  }
  if (charge === null) return null
  const version = terms.deployment.version
  switch (findFeeProblem(charge, { amount: charge.amount, info, version })) {
    case 'share':
      return { reason: 'invalid_auth_capture_evm_fee_bps_out_of_range' }
    case 'receiver':
      return { reason: 'invalid_auth_capture_evm_fee_receiver' }
    case 'zero_receiver':
      return { reason: 'invalid_auth_capture_evm_zero_fee_receiver' }
    case null:
      return null
  }
}

const bindsSalt: Check = ({ salt, saltNonce, terms }) =>
  refuseIf(
    saltNonce === null || bindSalt(terms.receiverAuthorizer, terms.policy, saltNonce) !== salt,
    'invalid_auth_capture_evm_salt_binding_mismatch',
  )

/** The nonce is the hash of all terms: a match proves that the payer signed them. */
const signsTerms: Check = ({ authorization, terms, info, chainId }) => {
  const domain = { chainId, escrow: terms.deployment.escrow }
  const expected = BigInt(hashPaymentInfo(domain, { ...info, payer: zeroAddress }))
  return refuseIf(authorization.nonce !== expected, 'invalid_auth_capture_evm_nonce_mismatch')
}

/** At settle the receiver states and signs what is charged. A hold charges nothing. */
const statesCharge: Check = ({ terms, charge, isForSettle, isAgent }) => {
  // Only holds are bound to an account: our key signs no charge.
  if (terms.flow === 'authorization' && isAgent) {
    return {
      reason: 'invalid_auth_capture_evm_unsupported_payment_flow',
      message:
        'extra.paymentFlow `authorization` needs a receiverAuthorizer of the receiver: this facilitator signs no charges',
    }
  }
  if (terms.flow === 'escrow') {
    return refuseIf(
      charge !== null,
      'invalid_auth_capture_evm_payload_format',
      'payload.amount: a hold charges nothing; extra.paymentFlow `authorization` does',
    )
  }
  return refuseIf(isForSettle && charge === null, 'invalid_auth_capture_evm_authorizer_signature')
}

/** Checks after the payer's signature. */
export const hashRules: readonly Rule<Candidate, RevertReason>[] = [
  {
    name: 'authorized_amount',
    check: permitsAmount,
    compare: ({ authorization, payment }) => ({
      found: authorization.value,
      expected: `exactly ${payment.requirements.amount}`,
    }),
  },
  { name: 'fee_terms', check: keepsFeeTerms },
  { name: 'salt_binding', check: bindsSalt },
  { name: 'payment_hash', check: signsTerms },
  { name: 'charge', check: statesCharge },
]

/** The payment that a payload and requirements describe; null if they cannot be read. */
export const readInfo = (
  payment: Payment,
  { authorization, salt }: CollectProof,
  terms: CollectTerms,
): PaymentInfo | null => {
  const { asset, payTo } = payment.requirements
  const [token, receiver] = [readAddress(asset), readAddress(payTo)]
  if (token === null || receiver === null) return null
  return {
    operator: terms.operator,
    payer: authorization.from,
    receiver,
    token,
    maxAmount: authorization.value,
    preApprovalExpiry: Number(authorization.validBefore),
    authorizationExpiry: Number(terms.captureDeadline),
    refundExpiry: Number(terms.refundDeadline),
    minFeeBps: terms.minFeeBps,
    maxFeeBps: terms.maxFeeBps,
    feeReceiver: terms.feeRecipient,
    salt,
  }
}
