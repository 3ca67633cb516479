import { decodeErrorResult, type Hex, parseAbi } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure } from '../rpc/rpc.js'
import type { AuthorizationState } from './authorizationState.js'
import type { Transfer } from './call.js'
import type { Authorization } from './payload.js'

/** A reason, and a sentence where the chain said more than the reason's own does. */
export interface RevertReason {
  readonly reason: Reason
  readonly message?: string
}

const standardErrors = parseAbi(['error Error(string message)', 'error Panic(uint256 code)'])

const notYetValid = /not yet valid/i

// Revert texts of FiatToken and of the tokens that copied its EIP-3009, and OpenZeppelin's.
const revertTexts: readonly (readonly [RegExp, Reason])[] = [
  [/authorization is used|authorization used|used or canceled/i, 'invalid_exact_evm_nonce_already_used'],
  [/authorization is expired|authorization expired/i, 'invalid_exact_evm_payload_authorization_valid_before'],
  [notYetValid, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/exceeds balance|insufficient balance|insufficientbalance/i, 'insufficient_funds'],
  [/paused/i, 'token_paused'],
  [/blacklist|blocklist|blocked|frozen|sanction/i, 'account_blocked'],
  [/invalid signature|ecrecover/i, 'invalid_exact_evm_payload_signature'],
]

/** Turns a failed simulation into the specific reason, from what the token says of the authorization. */
export const explainRevert = (
  failure: CallFailure,
  facts: AuthorizationState,
  authorization: Authorization,
  transfer: Pick<Transfer, 'deploysWallet'>,
): RevertReason => {
  if (facts.isUsed === null) return { reason: 'invalid_exact_evm_eip3009_not_supported' }
  if (facts.isUsed) return { reason: 'invalid_exact_evm_nonce_already_used' }

  // The token looks at the signature before it looks at the balance.
  const text = readRevertText(failure)
  const known = revertTexts.find(([pattern]) => pattern.test(text))
  if (known !== undefined) return { reason: known[1] }
  if (facts.balance !== null && facts.balance < authorization.value) return { reason: 'insufficient_funds' }
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  // Inside one transaction the token's own words are lost; what differs from a plain transfer is the wallet.
  if (transfer.deploysWallet) return { reason: 'smart_wallet_deployment_failed' }
  return {
    reason: 'invalid_exact_evm_transaction_simulation_failed',
    ...(text === '' ? {} : { message: `The transfer fails when it is simulated: ${text}` }),
  }
}

/** Whether all that stands in the way is that the block's time has not passed `validAfter`. */
export const isNotYetValid = (failure: CallFailure): boolean => notYetValid.test(readRevertText(failure))

/** The revert's own words: from its data where there is any, else from the node's message; one short line. */
const readRevertText = ({ data, message }: CallFailure): string => {
  const text = (data === null ? null : decodeRevertData(data)) ?? message
  // The words come from a stranger's contract or a node: printable, short, and without addresses of nodes.
  return text
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/https?:\/\/\S+/g, '')
    .slice(0, 160)
    .trim()
}

const decodeRevertData = (data: Hex): string | null => {
  try {
    const { errorName, args } = decodeErrorResult({ abi: standardErrors, data })
    return errorName === 'Error' ? String(args[0]) : `panic ${args[0]}`
  } catch {
    return null
  }
}
