import { type Abi, decodeErrorResult, type Hex } from 'viem'
import { uptoRouterAbi } from '../contracts/uptoRouterAbi.js'
import type { CallFailure } from '../rpc/rpc.js'
import { readRevertText } from '../tokens/erc20.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import type { TokenPermit } from './payload.js'
import type { PermitState } from './permitState.js'

interface Settled {
  readonly permit: TokenPermit
  readonly amount: bigint
}

/** The token's state takes precedence over the messages of token and router. */
export const explainRevert = (
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

/** For what the router and the token would accept; null if the state allows the settlement. */
export const findContradiction = (
  state: PermitState,
  { permit, amount, needed }: Settled & { readonly needed: bigint },
): RevertReason | null => {
  const { nonce, balance } = state
  if (nonce === null) return { reason: 'permit_not_supported' }
  // Without a transfer nothing is drawn.
  if (amount > 0n && isOverridden(state, permit)) return { reason: 'permit_allowance_changed' }
  // Some tokens transfer less than they are asked to.
  return balance === null || balance < needed ? { reason: 'insufficient_funds' } : null
}

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
