import { type Abi, toFunctionSelector } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure } from '../rpc/rpc.js'
import { readRevertText } from '../tokens/erc20.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { permit2Abi, proxyAbi } from './contracts.js'
import { explainMissingAllowance, type TokenPermit } from './gasSponsoring.js'
import type { PermitState } from './permitState.js'

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

/** For tokens that do not revert on a low allowance or balance; null if the state allows the transfer. */
export const findContradiction = (
  { isUsed, balance, allowance }: PermitState,
  { amount, payment, tokenPermit }: Needs,
): RevertReason | null => {
  if (isUsed === null) return { reason: 'permit2_simulation_failed' }
  if (isUsed) return { reason: 'permit2_invalid_nonce' }
  // With a permit of the token, the call itself raises the allowance.
  if (tokenPermit === null && (allowance === null || allowance < amount)) {
    return explainMissingAllowance(payment, tokenPermit)
  }
  return balance === null || balance < amount ? { reason: 'insufficient_funds' } : null
}

/** Whether the call only fails because the block time has not reached `validAfter`. */
export const isNotYetValid = ({ data }: CallFailure): boolean =>
  data !== null && reasonsBySelector.get(data.slice(0, 10)) === 'permit2_not_yet_valid'
