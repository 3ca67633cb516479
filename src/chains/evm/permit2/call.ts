import { type Abi, type Hex, toFunctionSelector } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Rule, runRules } from '../../../protocol/rules/rules.js'
import { addressWord, numberWord, readWord } from '../abi/words.js'
import { createStateRules, type StateRules } from '../explanations.js'
import type { CallFailure } from '../rpc/rpc.js'
import type { DeployedSignature } from '../signatures/signature.js'
import { encodeBalanceCall, readRevertText } from '../tokens/erc20.js'
import type { ContractCall, ReadAnswers, RevertReason } from '../transactions/settlementCall.js'
import { explainMissingAllowance, hasTokenPermit, type TokenPermit } from './gasSponsoring.js'
import { type Permit, type ProofReading, permit2Abi, permit2Address, proxyAbi } from './payload.js'

/*
 * A first transfer to a new recipient takes about 130k gas by ECDSA; wallet contracts add their own check. The caps are
 * those of EIP-3009, so that the balance that a signer needs does not depend on the method. Unused gas is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n

export const gasCapOf = ({ kind }: DeployedSignature): bigint =>
  kind === 'ecdsa' ? ecdsaGasCap : contractGasCap

/** A word of the nonce bitmap and the recipient's balance; nonce and allowance of a token's permit before it. */
export const permit2ReorgGas = 90_000n

/** Null values: the contract did not return them. */
interface PermitState {
  /** Used or invalidated. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
  /** What Permit2 may take from the payer, in smallest units. */
  readonly allowance: bigint | null
}

const [nonceBitmap] = permit2Abi
const bitmapSelector = toFunctionSelector(nonceBitmap)
const allowanceSelector = toFunctionSelector('allowance(address,address)')

/** Calldata of `nonceBitmap`, which holds 256 nonces in a word. */
export const encodeBitmapCall = ({ from, nonce }: Pick<Permit, 'from' | 'nonce'>): Hex =>
  `${bitmapSelector}${addressWord(from)}${numberWord(wordOf(nonce))}`

export const wordOf = (nonce: bigint): bigint => nonce >> 8n

/** Whether a bitmap or a mask of a nonce's word contains the nonce. */
export const hasNonce = (bitmap: bigint, nonce: bigint): boolean => ((bitmap >> (nonce & 0xffn)) & 1n) === 1n

/** Calldata of `allowance`: what Permit2 may take of the owner's token. */
export const encodeAllowanceCall = (owner: Hex): Hex =>
  `${allowanceSelector}${addressWord(owner)}${addressWord(permit2Address)}`

/** The calls whose answers `decodePermitState` takes. */
export const planStateReads = (permit: Permit): readonly ContractCall[] => [
  { to: permit2Address, data: encodeBitmapCall(permit) },
  { to: permit.token, data: encodeBalanceCall(permit.from) },
  { to: permit.token, data: encodeAllowanceCall(permit.from) },
]

export const decodePermitState = (
  [bitmap, balance, allowance]: ReadAnswers,
  { nonce }: Pick<Permit, 'nonce'>,
): PermitState => {
  const word = readWord(bitmap)
  return {
    isUsed: word === null ? null : hasNonce(word, nonce),
    balance: readWord(balance),
    allowance: readWord(allowance),
  }
}

const errorReasons: Readonly<Record<string, Reason>> = {
  SignatureExpired: 'permit2_deadline_expired',
  InvalidNonce: 'permit2_invalid_nonce',
  InvalidSignature: 'invalid_permit2_signature',
  InvalidSignatureLength: 'invalid_permit2_signature',
  InvalidSigner: 'invalid_permit2_signature',
  InvalidContractSignature: 'invalid_permit2_signature',
  PaymentTooEarly: 'permit2_not_yet_valid',
  AmountExceedsPermitted: 'invalid_upto_evm_payload_settlement_exceeds_amount',
  UnauthorizedFacilitator: 'upto_facilitator_mismatch',
  Permit2612AmountMismatch: 'permit2_2612_amount_mismatch',
}

const abi: Abi = [...permit2Abi, ...proxyAbi]

const reasonsBySelector = new Map<string, Reason>(
  abi.flatMap((item) => {
    const reason = item.type === 'error' ? errorReasons[item.name] : undefined
    return item.type !== 'error' || reason === undefined
      ? []
      : [
          [
            toFunctionSelector(`${item.name}(${item.inputs.map(({ type }) => type).join(',')})`),
            reason,
          ] as const,
        ]
  }),
)

/** What a call of a proxy needs. */
interface Needs {
  /** What it transfers. */
  readonly amount: bigint
  readonly payment: Pick<Payment, 'extensions'>
  readonly tokenPermit: TokenPermit | null
}

/**
 * State takes precedence: Permit2 hides why the token refused. A nonce that is used, an allowance or a balance that is
 * too low is the reason wherever the state shows it.
 */
export const explainRevert = (
  failure: CallFailure,
  state: PermitState,
  { amount, payment, tokenPermit }: Needs,
): RevertReason => {
  if (state.isUsed === true) return { reason: 'permit2_invalid_nonce' }
  const named = failure.data === null ? undefined : reasonsBySelector.get(failure.data.slice(0, 10))
  if (named !== undefined) return { reason: named }
  if (state.allowance !== null && state.allowance < amount) {
    return explainMissingAllowance(payment, tokenPermit)
  }
  if (state.balance !== null && state.balance < amount) return { reason: 'insufficient_funds' }
  const text = readRevertText(failure)
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  return {
    reason: 'permit2_simulation_failed',
    ...(text === '' ? {} : { message: `The transfer by Permit2 fails when it is simulated: ${text}` }),
  }
}

interface StateCandidate extends Pick<Needs, 'amount' | 'payment'> {
  readonly state: PermitState
  /** With a permit of the token, the call itself raises the allowance. */
  readonly raisesAllowance: boolean
}

const stateRules: readonly Rule<StateCandidate, RevertReason>[] = [
  {
    name: 'authorization_unused',
    check: ({ state: { isUsed } }) => {
      if (isUsed === null) return { reason: 'permit2_simulation_failed' }
      return isUsed ? { reason: 'permit2_invalid_nonce' } : null
    },
    compare: ({ state }) => ({
      path: 'paymentPayload.payload.permit2Authorization.nonce',
      found: describeUse(state),
      expected: 'unused',
    }),
  },
  {
    name: 'allowance',
    check: ({ state: { allowance }, amount, payment, raisesAllowance }) =>
      !raisesAllowance && (allowance === null || allowance < amount)
        ? explainMissingAllowance(payment, null)
        : null,
    compare: ({ state: { allowance }, amount, raisesAllowance }) => ({
      found: raisesAllowance
        ? 'raised by the permit that is sent along'
        : (allowance ?? 'none that the token states'),
      expected: `at least ${amount} for Permit2, ${permit2Address}`,
    }),
  },
  {
    name: 'balance',
    check: ({ state: { balance }, amount }) =>
      balance === null || balance < amount ? { reason: 'insufficient_funds' } : null,
    compare: ({ state: { balance }, amount }) => ({
      found: balance ?? 'none that the token states',
      expected: `at least ${amount}`,
    }),
  },
]

/** Refuses by the state, as some tokens revert on no low allowance or balance; null if it allows the transfer. */
export const findContradiction = (
  state: PermitState,
  { amount, payment, tokenPermit }: Needs,
): RevertReason | null =>
  runRules(stateRules, { state, amount, payment, raisesAllowance: tokenPermit !== null })

const describeUse = ({ isUsed }: PermitState): string =>
  isUsed === null ? 'unknown to Permit2' : isUsed ? 'used or invalidated' : 'unused'

/** `findAmount`: what the call transfers. */
export const createPermitState = <P extends Permit>(
  read: (proof: unknown) => ProofReading<P>,
  findAmount: (permit: P, payment: Payment) => bigint,
): StateRules =>
  createStateRules<StateCandidate>({
    shownBy: { invalid_permit2_signature: 'signature', invalid_permit_signature: 'token_permit' },
    rules: stateRules,
    read: (payment) => {
      const reading = read(payment.proof)
      if ('problem' in reading) return null
      const { permit } = reading.proof
      const facts = { amount: findAmount(permit, payment), payment, raisesAllowance: hasTokenPermit(payment) }
      return {
        reads: planStateReads(permit),
        decode: (answers) => ({ state: decodePermitState(answers, permit), ...facts }),
      }
    },
    list: ({ state }) => ({
      ...(state.balance === null ? {} : { payer_balance: `${state.balance}` }),
      ...(state.allowance === null ? {} : { payer_allowance: `${state.allowance}` }),
      authorization_state: describeUse(state),
    }),
  })

/** Whether the call only fails because the block time has not reached `validAfter`. */
export const isNotYetValid = ({ data }: CallFailure): boolean =>
  data !== null && reasonsBySelector.get(data.slice(0, 10)) === 'permit2_not_yet_valid'
