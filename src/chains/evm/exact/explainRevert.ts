import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure } from '../rpc/rpc.js'
import { readRevertText } from '../tokens/erc20.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import type { AuthorizationState } from './authorizationState.js'
import type { Authorization } from './payload.js'

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

/** For tokens that do not revert on a used authorization or a low balance; null if the state allows it. */
export const findContradiction = (
  { isUsed, balance }: AuthorizationState,
  value: bigint,
): RevertReason | null => {
  if (isUsed === null) return { reason: 'invalid_exact_evm_eip3009_not_supported' }
  if (isUsed) return { reason: 'invalid_exact_evm_nonce_already_used' }
  return balance === null || balance < value ? { reason: 'insufficient_funds' } : null
}

/** Whether the call only fails because the block time has not passed `validAfter`. */
export const isNotYetValid = (failure: CallFailure): boolean => notYetValid.test(readRevertText(failure))
