import { type Hex, zeroAddress } from 'viem'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { Payment } from '../../../protocol/payment.js'
import { namesOf, type Rule, runRules } from '../../../protocol/rules/rules.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { readOccasion, toRefusal } from '../paymentMethod.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import {
  bindSalt,
  encodeStateCall,
  formatPaymentId,
  hashPaymentInfo,
  maxUint48,
  planEscrowCall,
} from './contracts.js'
import { createJudge, type JudgedCall } from './judge.js'
import { type LifecycleProof, readLifecycleProof } from './payload.js'
import {
  type AuthCaptureDependencies,
  type Prepare,
  type PreparedCapture,
  refusePayload,
} from './prepared.js'
import { explainLifecycleRevert, findLifecycleContradiction } from './reverts.js'
import { deadlineMargin, findFeeProblem, findOperatorProblem, refuseIf, subtractFee } from './rules.js'
import { type AuthorizerKind, findAuthorizer, hashLifecycle, hashVoid } from './signatures.js'
import { type Authority, readAuthority } from './terms.js'

/*
 * What becomes of a payment that was collected: a capture pays the receiver, a void returns the rest to the payer, a refund
 * returns what was captured. The receiver's authorizer, whom the payer signed as a part of the salt, decides.
 */

interface Candidate {
  readonly payment: Payment
  readonly proof: LifecycleProof
  readonly authority: Authority
  readonly accounts: readonly Hex[]
  readonly nowSeconds: bigint
}

type Check = Rule<Candidate, RevertReason>['check']

const isRelayed: Check = ({ authority, accounts, proof }) => {
  const problem = findOperatorProblem(authority, accounts)
  if (problem !== null) return problem
  if (isSameAddress(authority.receiverAuthorizer, zeroAddress)) {
    return { reason: 'invalid_auth_capture_evm_lifecycle_not_relayed' }
  }
  return refuseIf(
    !isSameAddress(proof.info.operator, authority.operator),
    'invalid_auth_capture_evm_operator_mismatch',
  )
}

/** The salt is a part of the payment's hash: a binding that holds is the one that the payer signed. */
const bindsSalt: Check = ({ authority, proof: { info, saltNonce } }) =>
  refuseIf(
    saltNonce === null || bindSalt(authority.receiverAuthorizer, authority.policy, saltNonce) !== info.salt,
    'invalid_auth_capture_evm_salt_binding_mismatch',
  )

/** The journal's row has the asset and the recipient of the requirements. */
const agrees =
  (field: 'payTo' | 'asset', mine: 'receiver' | 'token'): Check =>
  ({ payment: { requirements }, proof: { info } }) => {
    const required = readAddress(requirements[field])
    const message = `paymentRequirements.${field}: must be the ${mine} of the payment`
    const isSame = required !== null && isSameAddress(required, info[mine])
    return refuseIf(!isSame, 'invalid_auth_capture_evm_extra', message)
  }

const bindingRules: readonly Rule<Candidate, RevertReason>[] = [
  { name: 'facilitator', check: isRelayed },
  { name: 'salt_binding', check: bindsSalt },
  { name: 'recipient', check: agrees('payTo', 'receiver') },
  { name: 'named_asset', check: agrees('asset', 'token') },
]

const keepsFeeTerms: Check = ({ proof, authority }) => {
  if (proof.type !== 'capture') return null
  const { amount, info } = proof
  const { version } = authority.deployment
  return refuseIf(findFeeProblem(proof, { amount, info, version }) !== null, 'invalid_auth_capture_evm_fee')
}

const deadlineOf = ({ type, info }: LifecycleProof): bigint => {
  switch (type) {
    case 'capture':
      return BigInt(info.authorizationExpiry)
    case 'refund':
      return BigInt(info.refundExpiry)
    // The operator may void at any time.
    case 'void':
      return maxUint48
  }
}

const isInTime: Check = ({ proof, nowSeconds }) =>
  refuseIf(
    deadlineOf(proof) <= nowSeconds + deadlineMargin,
    proof.type === 'refund'
      ? 'invalid_auth_capture_evm_refund_deadline_expired'
      : 'invalid_auth_capture_evm_capture_deadline_expired',
  )

/** One request moves money once: a second transaction would be one that no journal row stands for. */
const leavesRemainder: Check = ({ proof }) => {
  if (proof.type !== 'capture' || proof.voidAuthorizerSignature === null) return null
  return proof.amount === proof.expectedCapturable
    ? { reason: 'invalid_auth_capture_evm_void_remainder_full_capture' }
    : { reason: 'invalid_auth_capture_evm_void_remainder_not_offered' }
}

const callRules: readonly Rule<Candidate, RevertReason>[] = [
  { name: 'fee_terms', check: keepsFeeTerms },
  { name: 'capture_deadlines', check: isInTime },
  { name: 'void_remainder', check: leavesRemainder },
]

const names = [
  'payload_fields',
  'hold_terms',
  ...namesOf(bindingRules),
  'authorizer_signature',
  ...namesOf(callRules),
] as const

/**
 * The balances that a capture or a refund expects never recur: of two requests from one state only one can have the identity,
 * whatever its amount.
 */
const formatLifecycleId = (paymentId: string, proof: LifecycleProof): string =>
  proof.type === 'void'
    ? `${paymentId}/void`
    : `${paymentId}/${proof.expectedCapturable}-${proof.expectedRefundable}`

export const identifyLifecycle = (
  { network, chainId }: { readonly network: string; readonly chainId: number },
  { proof, requirements }: Payment,
): string | null => {
  const reading = readLifecycleProof(proof)
  const authority = readAuthority(requirements.extra)
  if ('problem' in reading || 'reason' in authority) return null
  const { escrow } = authority.deployment
  const hash = hashPaymentInfo({ chainId, escrow }, reading.proof.info)
  return formatLifecycleId(formatPaymentId(network, escrow, hash), reading.proof)
}

export const createPrepareLifecycle = (dependencies: AuthCaptureDependencies): Prepare => {
  const { network, clock, accounts, contractReader } = dependencies
  const { chainId } = network

  const readAuthorizer = async (
    { authority, proof }: Candidate,
    { hash, requester }: { readonly hash: Hex; readonly requester: Requester },
  ): Promise<{ readonly authorizer: AuthorizerKind } | RevertReason> => {
    const { operator, receiverAuthorizer, deployment } = authority
    const ask = (digest: Hex, signature: Hex) =>
      findAuthorizer(contractReader, {
        authorizer: receiverAuthorizer,
        digest,
        signature,
        requester,
      })
    const { authorizerSignature } = proof
    const authorizer =
      authorizerSignature === null
        ? null
        : await ask(hashLifecycle({ chainId, operator, deployment }, hash, proof), authorizerSignature)
    if (authorizer === null) return { reason: 'invalid_auth_capture_evm_authorizer_signature' } as const
    const voiding = proof.type === 'capture' ? proof.voidAuthorizerSignature : null
    if (voiding !== null && (await ask(hashVoid({ chainId, operator }, hash), voiding)) === null) {
      return { reason: 'invalid_auth_capture_evm_void_authorizer_signature' } as const
    }
    return { authorizer }
  }

  return async (payment, phase, trace) => {
    trace?.expect(names)
    const reading = readLifecycleProof(payment.proof)
    if ('problem' in reading) return refusePayload(reading.problem, trace)
    trace?.note('payload_fields', null)
    const { proof } = reading
    const { info } = proof
    const refuse = (failure: RevertReason) => ({ refused: toRefusal(info.payer, failure) })
    const authority = readAuthority(payment.requirements.extra)
    trace?.note('hold_terms', 'reason' in authority ? authority : null)
    if ('reason' in authority) return refuse(authority)
    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = { payment, proof, authority, accounts, ...occasion }
    const unbound = runRules(bindingRules, candidate, trace)
    if (unbound !== null) return refuse(unbound)
    const hash = hashPaymentInfo({ chainId, escrow: authority.deployment.escrow }, info)
    // Anyone can name any payer: the authorizer's code runs in the share of who asks.
    const { requester } = phase
    const signed = await readAuthorizer(candidate, { hash, requester })
    trace?.note('authorizer_signature', 'reason' in signed ? signed : null)
    if ('reason' in signed) return refuse(signed)
    const broken = runRules(callRules, candidate, trace)
    if (broken !== null) return refuse(broken)
    const isWalletAsked = signed.authorizer === 'contract'
    const { caller = null } = phase
    return { prepared: createPrepared(dependencies, { candidate, occasion, hash, isWalletAsked, caller }) }
  }
}

/** `capture` takes about 70k gas, `void` 55k and `refund` 80k; unused gas is not paid. */
const lifecycleGasCap = 400_000n
const lifecycleReorgGas = 60_000n

const createPrepared = (
  { rpc, network, family, holdAuthorizers }: AuthCaptureDependencies,
  {
    candidate,
    occasion,
    hash,
    isWalletAsked,
    caller,
  }: {
    readonly candidate: Candidate
    readonly occasion: ReturnType<typeof readOccasion>
    readonly hash: Hex
    readonly isWalletAsked: boolean
    /** Account id, or `anonymous`. */
    readonly caller: string | null
  },
): PreparedCapture => {
  const { proof, authority, payment } = candidate
  const { info } = proof
  const { deployment, operator } = authority
  const { escrow, refundCollector } = deployment
  const planned = planEscrowCall(
    deployment,
    info,
    proof.type === 'void'
      ? { operation: 'void' }
      : proof.type === 'capture'
        ? { operation: 'capture', amount: proof.amount, fee: proof.fee, feeReceiver: proof.feeReceiver }
        : { operation: 'refund', amount: proof.amount, collector: refundCollector, collectorData: '0x' },
  )
  const amount = proof.type === 'void' ? 0n : proof.amount
  const judged: JudgedCall = {
    operation: proof.type,
    escrow,
    hash,
    operator,
    topic: planned.topic,
    terms: planned.terms,
    amount,
    capturable: proof.type === 'void' ? 0n : proof.expectedCapturable,
    refundable: proof.type === 'void' ? 0n : proof.expectedRefundable,
  }
  // The payer signed for any authorizer that it likes: the operator pays by the signature of its own choice alone. A key of ours
  // signs for every account, a payer's as well: there the account has to be the operator's choice.
  const { receiverAuthorizer } = authority
  const isOurs = holdAuthorizers.some(({ address }) => isSameAddress(address, receiverAuthorizer))
  const asker = (isOurs ? caller : receiverAuthorizer)?.toLowerCase()
  const isFunded = family.refundReceivers.some(
    ({ receiver, authorizer }) =>
      isSameAddress(receiver, info.receiver) && authorizer.toLowerCase() === asker,
  )
  const call: SettlementCall = {
    to: planned.to,
    data: planned.data,
    id: formatLifecycleId(formatPaymentId(network.network, escrow, hash), proof),
    payer: info.payer,
    payTo: info.receiver,
    amount,
    gasCap: lifecycleGasCap,
    reorgGas: lifecycleReorgGas,
    deadline: deadlineOf(proof),
    // The escrow takes the call from the operator alone.
    batchedBy: null,
    sender: operator,
    runsPayerCode: false,
    reads: [{ to: escrow, data: encodeStateCall(hash) }],
    probe: null,
    explainRevert: (failure, reads) => explainLifecycleRevert(failure, reads, { proof, isFunded }),
    findContradiction: (reads) => findLifecycleContradiction(reads, { proof, isFunded }),
    isTooEarly: () => false,
    judge: createJudge(rpc, judged),
  }
  return {
    candidate: {
      ...occasion,
      payment,
      token: { address: info.token },
      recheck: (again) => runRules(callRules, { ...candidate, ...again })?.reason ?? null,
    },
    call,
    judged,
    isWalletAsked,
    authorizedAmount: amount,
    // A fee can be all of it, and go back to the payer: it is no payment of the receiver.
    received:
      proof.type === 'capture' ? subtractFee(amount, { fee: proof.fee, version: deployment.version }) : 0n,
    // Its hold was worth a transaction when it was made, and can be captured whole only once.
    isExempt: proof.type === 'capture' && amount === proof.expectedCapturable,
  }
}
