import { encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import { type Rule, runRules } from '../../../protocol/rules/rules.js'
import { readAddress } from '../abi/address.js'
import { encodeDeployingCall, multicallAddress } from '../abi/multicall.js'
import { addressWord, numberWord } from '../abi/words.js'
import { createStateRules } from '../explanations.js'
import type { CallFailure, Rpc } from '../rpc/rpc.js'
import type { PayerSignature } from '../signatures/signature.js'
import { formatAuthorizationId } from '../tokens/authorizations.js'
import { findCreditMismatch, planCreditProbe, readRevertText, tokenAbi } from '../tokens/erc20.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { ContractCall, RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { type AuthorizationState, createJudge, decodeAuthorizationState, planStateReads } from './judge.js'
import { type Authorization, readExactProof } from './payload.js'

export interface TransferPlan
  extends ContractCall,
    Pick<SettlementCall, 'gasCap' | 'reorgGas' | 'batchedBy' | 'runsPayerCode' | 'probe'> {
  /** Whether the payer's wallet is deployed first. */
  readonly deploysWallet: boolean
}

/*
 * A first transfer to a new recipient costs FiatToken about 103k gas by ECDSA; wallet contracts add their
 * own check (Safe about 25k), a deployment about 110k to 300k. Arbitrum charges calldata as gas, which is
 * why the caps are generous. Unused gas is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n
const deploymentGasCap = 2_000_000n
// The recipient's balance, and one more slot of tokens that keep another list of their holders.
const transferReorgGas = 40_000n
const deploymentReorgGas = 500_000n

export const highestGasCap = (deploysWallets: boolean): bigint =>
  deploysWallets ? deploymentGasCap : contractGasCap

/** `transferWithAuthorization` on the token, for an account or a deployed wallet. */
export const planTransfer = (
  { address, isListed }: Pick<Token, 'address' | 'isListed'>,
  authorization: Authorization,
  signature: PayerSignature,
): TransferPlan => {
  const data = encodeTransfer(authorization, signature)
  const isEcdsa = signature.kind === 'ecdsa'
  return {
    to: address,
    data,
    gasCap: isEcdsa ? ecdsaGasCap : contractGasCap,
    reorgGas: transferReorgGas,
    deploysWallet: false,
    batchedBy: isListed && isEcdsa ? 'any' : null,
    runsPayerCode: !isEcdsa,
    probe: isListed ? null : planCreditProbe(address, authorization.to, { to: address, data }),
  }
}

/**
 * Factory call and transfer in one transaction, so that neither happens without the other. Both go through
 * Multicall3, which owns nothing: the payer chose the factory, and no account of ours may be its
 * `msg.sender`.
 */
export const planDeployingTransfer = (
  asset: Hex,
  authorization: Authorization,
  signature: PayerSignature & { readonly kind: 'counterfactual' },
): TransferPlan => ({
  to: multicallAddress,
  data: encodeDeployingCall(signature, { to: asset, data: encodeTransfer(authorization, signature) }),
  gasCap: deploymentGasCap,
  reorgGas: deploymentReorgGas,
  deploysWallet: true,
  batchedBy: null,
  runsPayerCode: true,
  probe: null,
})

export const createSettlementCall = (
  { rpc, network }: { readonly rpc: Rpc; readonly network: string },
  { authorization, token }: { readonly authorization: Authorization; readonly token: Token },
  plan: TransferPlan,
): SettlementCall => {
  const { from, to, value, validBefore, nonce } = authorization
  const asset = token.address
  // It is built field by field: object spread costs several µs, on every verification.
  return {
    to: plan.to,
    data: plan.data,
    gasCap: plan.gasCap,
    reorgGas: plan.reorgGas,
    batchedBy: plan.batchedBy,
    runsPayerCode: plan.runsPayerCode,
    probe: plan.probe,
    id: formatAuthorizationId({ network, asset, from, nonce }),
    payer: from,
    payTo: to,
    amount: value,
    deadline: validBefore,
    sender: null,
    reads: planStateReads(asset, authorization),
    explainRevert: (failure, reads) =>
      explainRevert(failure, decodeAuthorizationState(reads), authorization, plan),
    findContradiction: (reads, probe) =>
      findContradiction({ state: decodeAuthorizationState(reads), value }) ??
      findCreditMismatch(probe, value),
    isTooEarly: isNotYetValid,
    judge: createJudge(rpc, nonce, { asset, from, to, value }),
  }
}

/** The token's calldata; smart wallets get the inner signature, never the ERC-6492 wrapper. */
export const encodeTransfer = (
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  signature: PayerSignature,
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

const notYetValid = /not yet valid/i

// Revert messages of FiatToken and of tokens that copied its EIP-3009, and of OpenZeppelin.
const revertTexts: readonly (readonly [RegExp, Reason])[] = [
  [/authorization is used|authorization used|used or canceled/i, 'invalid_exact_evm_nonce_already_used'],
  [/authorization is expired|authorization expired/i, 'invalid_exact_evm_payload_authorization_valid_before'],
  [notYetValid, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/exceeds balance|insufficient balance|insufficientbalance/i, 'insufficient_funds'],
  [/paused/i, 'token_paused'],
  [/blacklist|blocklist|blocked|frozen|sanction/i, 'account_blocked'],
  [/invalid signature|ecrecover/i, 'invalid_exact_evm_payload_signature'],
]

/** The token's state takes precedence over its revert message. */
export const explainRevert = (
  failure: CallFailure,
  facts: AuthorizationState,
  authorization: Authorization,
  { deploysWallet }: { readonly deploysWallet: boolean },
): RevertReason => {
  if (facts.isUsed === null) return { reason: 'invalid_exact_evm_eip3009_not_supported' }
  if (facts.isUsed) return { reason: 'invalid_exact_evm_nonce_already_used' }

  // The token checks the signature before the balance.
  const text = readRevertText(failure)
  const known = revertTexts.find(([pattern]) => pattern.test(text))
  if (known !== undefined) return { reason: known[1] }
  if (facts.balance !== null && facts.balance < authorization.value) return { reason: 'insufficient_funds' }
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  // Multicall3 hides the token's revert message; the wallet's part is the likely cause.
  if (deploysWallet) return { reason: 'smart_wallet_deployment_failed' }
  return {
    reason: 'invalid_exact_evm_transaction_simulation_failed',
    ...(text === '' ? {} : { message: `The transfer fails when it is simulated: ${text}` }),
  }
}

interface StateCandidate {
  readonly state: AuthorizationState
  readonly value: bigint
}

const stateRules: readonly Rule<StateCandidate>[] = [
  {
    name: 'authorization_known',
    check: ({ state: { isUsed } }) => (isUsed === null ? 'invalid_exact_evm_eip3009_not_supported' : null),
  },
  {
    name: 'authorization_unused',
    check: ({ state: { isUsed } }) => (isUsed === true ? 'invalid_exact_evm_nonce_already_used' : null),
    compare: ({ state }) => ({
      path: 'paymentPayload.payload.authorization.nonce',
      found: describeUse(state),
      expected: 'unused',
    }),
  },
  {
    name: 'balance',
    check: ({ state: { balance }, value }) =>
      balance === null || balance < value ? 'insufficient_funds' : null,
    compare: ({ state: { balance }, value }) => ({
      found: balance ?? 'no balance that the token states',
      expected: `at least ${value}`,
    }),
  },
]

/** Refuses by the state, as some tokens revert on no used authorization and no low balance; null if it allows it. */
const findContradiction = (candidate: StateCandidate): RevertReason | null => {
  const reason = runRules(stateRules, candidate)
  return reason === null ? null : { reason }
}

const describeUse = ({ isUsed }: AuthorizationState): string =>
  isUsed === null ? 'unknown to the token' : isUsed ? 'used or cancelled' : 'unused'

export const authorizationState = createStateRules<StateCandidate>({
  shownBy: { invalid_exact_evm_payload_signature: 'signature' },
  rules: stateRules,
  read: ({ proof, requirements }) => {
    const reading = readExactProof(proof)
    const asset = readAddress(requirements.asset)
    if ('problem' in reading || asset === null) return null
    const { authorization } = reading.proof
    return {
      reads: planStateReads(asset, authorization),
      decode: (answers) => ({ state: decodeAuthorizationState(answers), value: authorization.value }),
    }
  },
  list: ({ state }) => ({
    ...(state.balance === null ? {} : { payer_balance: `${state.balance}` }),
    authorization_state: describeUse(state),
  }),
})

/** Whether the call only fails because the block time has not passed `validAfter`. */
export const isNotYetValid = (failure: CallFailure): boolean => notYetValid.test(readRevertText(failure))
