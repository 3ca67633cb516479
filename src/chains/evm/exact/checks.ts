import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { ExactProof } from './payload.js'

export interface Candidate extends ExactProof {
  readonly payment: Payment
  readonly token: Token
  readonly nowSeconds: bigint
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

/** A rule of the specification that needs no chain access; null when it holds. */
type Rule = Check<Candidate, Reason>

const paysRecipient: Rule = ({ authorization, payment }) => {
  const payTo = readAddress(payment.requirements.payTo)
  return payTo !== null && isSameAddress(authorization.to, payTo)
    ? null
    : 'invalid_exact_evm_payload_recipient_mismatch'
}

// A transfer to oneself only costs gas.
const paysSomeoneElse: Rule = ({ authorization }) =>
  isSameAddress(authorization.from, authorization.to) ? 'self_payment' : null

const asksForSomething: Rule = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

const coversAmount: Rule = ({ authorization, payment }) =>
  authorization.value > 0n && authorization.value >= payment.requirements.amount
    ? null
    : 'invalid_exact_evm_payload_authorization_value'

const hasStarted: Rule = ({ authorization, nowSeconds }) =>
  authorization.validAfter <= nowSeconds ? null : 'invalid_exact_evm_payload_authorization_valid_after'

const hasNotExpired: Rule = ({ authorization, nowSeconds, marginSeconds }) =>
  authorization.validBefore > nowSeconds + marginSeconds
    ? null
    : 'invalid_exact_evm_payload_authorization_valid_before'

const namesToken: Rule = ({ payment, token }) => {
  const { name, version } = payment.requirements.extra
  if (token.domain === null) {
    return typeof name === 'string' && typeof version === 'string'
      ? null
      : 'invalid_exact_evm_missing_eip712_domain'
  }
  // Without a proven domain the simulation decides.
  if (!token.domain.isProven) return null
  if (name !== undefined && name !== token.domain.name) return 'invalid_exact_evm_token_name_mismatch'
  if (version !== undefined && version !== token.domain.version) {
    return 'invalid_exact_evm_token_version_mismatch'
  }
  return null
}

const checks: readonly Rule[] = [
  paysRecipient,
  paysSomeoneElse,
  asksForSomething,
  coversAmount,
  hasStarted,
  hasNotExpired,
  namesToken,
]

export const findFailedCheck = (candidate: Candidate): Reason | null => runChecks(checks, candidate)
