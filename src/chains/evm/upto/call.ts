import { type Abi, decodeErrorResult, type Hex, toFunctionSelector } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import { type Rule, runRules } from '../../../protocol/rules/rules.js'
import { readAddress } from '../abi/address.js'
import { addressWord, readWord } from '../abi/words.js'
import { encodeSettle } from '../contracts/routerCalls.js'
import { uptoRouterAbi } from '../contracts/uptoRouterAbi.js'
import { createStateRules } from '../explanations.js'
import type { CallFailure, Rpc } from '../rpc/rpc.js'
import { type DeployedSignature, encodeSignature } from '../signatures/signature.js'
import { encodeBalanceCall, readRevertText } from '../tokens/erc20.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type {
  ContractCall,
  ReadAnswers,
  RevertReason,
  SettlementCall,
} from '../transactions/settlementCall.js'
import { createJudge } from './judge.js'
import { formatPermitId, readUptoProof, type TokenPermit, type UptoProof } from './payload.js'

/** Null values: the token did not return them. */
interface PermitState {
  /** The owner's next permit nonce. */
  readonly nonce: bigint | null
  /** In smallest units. */
  readonly balance: bigint | null
  /** What the spender may take from the owner, in smallest units. */
  readonly allowance: bigint | null
}

const noncesSelector = toFunctionSelector('nonces(address)')
const allowanceSelector = toFunctionSelector('allowance(address,address)')

/** Calldata of EIP-2612's `nonces`. */
export const encodeNonceCall = (owner: Hex): Hex => `${noncesSelector}${addressWord(owner)}`

/** The calls whose answers `decodePermitState` takes. */
const planStateReads = (
  asset: Hex,
  { owner, spender }: Pick<TokenPermit, 'owner' | 'spender'>,
): readonly ContractCall[] => [
  { to: asset, data: encodeNonceCall(owner) },
  { to: asset, data: encodeBalanceCall(owner) },
  { to: asset, data: `${allowanceSelector}${addressWord(owner)}${addressWord(spender)}` },
]

export const decodePermitState = ([nonce, balance, allowance]: ReadAnswers): PermitState => ({
  nonce: readWord(nonce),
  balance: readWord(balance),
  allowance: readWord(allowance),
})

/*
 * Permit and transfer cost FiatToken about 165k gas, 70k more when they deploy the recipient's router; wallet contracts add
 * their own check. Unused gas is not paid.
 */
const ecdsaGasCap = 600_000n
const contractGasCap = 1_000_000n
// The recipient's router, and four slots: its balance, the permit's nonce and allowance, the router's own nonce.
const reorgGas = 150_000n

interface CheckedPermit extends Pick<UptoProof, 'permit' | 'paymentNonce'> {
  readonly payment: Pick<Payment, 'requirements'>
  readonly token: Pick<Token, 'address'>
  readonly payTo: Hex
  readonly routers: { readonly shared: Hex }
}

export const createUptoCall = (
  { rpc, network }: { readonly rpc: Rpc; readonly network: string },
  { permit, paymentNonce, payment, token, payTo, routers }: CheckedPermit,
  { amount, signature }: { readonly amount: bigint; readonly signature: DeployedSignature },
): SettlementCall => {
  // A charge of 0 costs gas too: who could not pay the maximum must not make the facilitator pay it.
  const needed = amount > 0n ? amount : payment.requirements.amount
  const { owner, spender, value, deadline, nonce } = permit
  const asset = token.address
  const isEcdsa = signature.kind === 'ecdsa'
  return {
    to: routers.shared,
    data: encodeSettle({
      token: asset,
      owner,
      to: payTo,
      maxAmount: value,
      amount,
      deadline,
      permitNonce: nonce,
      paymentNonce,
      isBound: spender !== routers.shared,
      signature: encodeSignature(signature),
    }),
    id: formatPermitId(network, asset, permit),
    payer: owner,
    payTo,
    amount,
    gasCap: isEcdsa ? ecdsaGasCap : contractGasCap,
    reorgGas,
    deadline: deadline + 1n,
    // The router takes calls from our accounts and from itself.
    batchedBy: isEcdsa ? routers.shared : null,
    runsPayerCode: !isEcdsa,
    sender: null,
    reads: planStateReads(asset, permit),
    probe: null,
    explainRevert: (failure, reads) => explainRevert(failure, decodePermitState(reads), { permit, amount }),
    findContradiction: (reads) =>
      findContradiction({ state: decodePermitState(reads), permit, amount, needed }),
    isTooEarly: () => false,
    judge: createJudge(rpc, { router: routers.shared, asset, owner, spender, nonce, payTo, amount }),
  }
}

interface Settled {
  readonly permit: TokenPermit
  readonly amount: bigint
}

/** The token's state takes precedence over the messages of token and router. */
const explainRevert = (
  failure: CallFailure,
  { nonce, balance, allowance }: PermitState,
  { permit, amount }: Settled,
): RevertReason => {
  if (nonce === null) return { reason: 'permit_not_supported' }
  if (nonce < permit.nonce) return nonceMismatch(permit, nonce)
  const error = failure.data === null ? null : readRouterError(failure.data)
  if (error === 'PermitAlreadySettled') return nonceMismatch(permit, nonce)
  if (nonce > permit.nonce) {
    // The nonce is used: by this permit, which any account may submit, or by another one.
    if (error === 'InvalidPermitSignature') return nonceMismatch(permit, nonce)
    if (isOverridden({ nonce, allowance }, permit)) return { reason: 'permit_allowance_changed' }
  }
  const text = readRevertText(failure)
  if (error === 'PermitExpired' || /expired/i.test(text)) return { reason: 'permit_expired' }
  if (/paused/i.test(text)) return { reason: 'token_paused' }
  if (/blacklist|blocklist|blocked|frozen|sanction/i.test(text)) return { reason: 'account_blocked' }
  if (/invalid.?signature|invalid.?signer|ecrecover/i.test(text + (error ?? ''))) {
    return { reason: 'invalid_permit_signature' }
  }
  if (error === 'PermitNotApplied') return { reason: 'permit_not_supported' }
  if (balance !== null && balance < amount) return { reason: 'insufficient_funds' }
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  return {
    reason: 'permit_simulation_failed',
    ...(text === '' ? {} : { message: `The settlement fails when it is simulated: ${text}` }),
  }
}

const nonceMismatch = ({ nonce: signed }: TokenPermit, next: bigint): RevertReason => ({
  reason: 'permit_nonce_mismatch',
  message: `The permit has the nonce ${signed}, and the payer's next permit nonce of the token is ${next}`,
})

/**
 * Whether the nonce is used and the allowance is not the permit's: another permit used the nonce, or the payer has changed
 * the allowance since. What stands then is of an earlier permit, which the payer did not sign for this payment.
 */
const isOverridden = (
  { nonce, allowance }: Pick<PermitState, 'nonce' | 'allowance'>,
  permit: TokenPermit,
): boolean => nonce !== null && nonce > permit.nonce && allowance !== permit.value

interface StateCandidate extends Settled {
  readonly state: PermitState
  /** The payer must have so much. */
  readonly needed: bigint
}

const stateRules: readonly Rule<StateCandidate>[] = [
  {
    name: 'authorization_known',
    check: ({ state: { nonce } }) => (nonce === null ? 'permit_not_supported' : null),
    compare: ({ state: { nonce }, permit }) => ({
      path: 'paymentPayload.payload.authorization.nonce',
      found: permit.nonce,
      expected: nonce === null ? 'a nonce that the token states' : `${nonce}, the next one of the payer`,
    }),
  },
  {
    name: 'authorization_unused',
    // Without a transfer nothing is drawn.
    check: ({ state, permit, amount }) =>
      amount > 0n && isOverridden(state, permit) ? 'permit_allowance_changed' : null,
    compare: ({ state: { allowance }, permit }) => ({
      found: `an allowance of ${allowance ?? 'no known amount'}`,
      expected: `${permit.value}, once the nonce is used`,
    }),
  },
  {
    name: 'balance',
    // Some tokens transfer less than they are asked to.
    check: ({ state: { balance }, needed }) =>
      balance === null || balance < needed ? 'insufficient_funds' : null,
    compare: ({ state: { balance }, needed }) => ({
      found: balance ?? 'none that the token states',
      expected: `at least ${needed}`,
    }),
  },
]

/** Refuses by the state what the router and the token would accept; null if it allows the settlement. */
const findContradiction = (candidate: StateCandidate): RevertReason | null => {
  const reason = runRules(stateRules, candidate)
  return reason === null ? null : { reason }
}

export const permitState = createStateRules<StateCandidate>({
  shownBy: { invalid_permit_signature: 'signature' },
  rules: stateRules,
  read: ({ proof, requirements, settleAmount }) => {
    const reading = readUptoProof(proof)
    const asset = readAddress(requirements.asset)
    if ('problem' in reading || asset === null) return null
    const { permit } = reading.proof
    const amount = settleAmount ?? requirements.amount
    const needed = amount > 0n ? amount : requirements.amount
    return {
      reads: planStateReads(asset, permit),
      decode: (answers) => ({ state: decodePermitState(answers), permit, amount, needed }),
    }
  },
  list: ({ state: { nonce, balance, allowance }, permit }) => ({
    ...(balance === null ? {} : { payer_balance: `${balance}` }),
    ...(allowance === null ? {} : { payer_allowance: `${allowance}` }),
    ...(nonce === null
      ? {}
      : { authorization_state: nonce > permit.nonce ? 'nonce used' : 'nonce not used' }),
  }),
})

// Errors of common implementations of permit, which the router passes on.
const tokenErrors: Abi = [
  { type: 'error', name: 'ERC2612ExpiredSignature', inputs: [{ name: 'deadline', type: 'uint256' }] },
  {
    type: 'error',
    name: 'ERC2612InvalidSigner',
    inputs: [
      { name: 'signer', type: 'address' },
      { name: 'owner', type: 'address' },
    ],
  },
]
const knownErrors: Abi = [...uptoRouterAbi, ...tokenErrors]

const readRouterError = (data: Hex): string | null => {
  try {
    return decodeErrorResult({ abi: knownErrors, data }).errorName
  } catch {
    return null
  }
}
