import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Token } from '../tokens/tokenRegistry.js'
import { exactProxyAddress } from './contracts.js'
import type { PermitProof } from './payload.js'

export interface Candidate extends PermitProof {
  readonly payment: Payment
  readonly token: Token
  readonly nowSeconds: bigint
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

/** A rule that needs no chain access; null when it holds. */
type Rule = Check<Candidate, Reason>

// Another spender could direct the funds to any recipient.
const permitsProxy: Rule = ({ permit }) =>
  isSameAddress(permit.spender, exactProxyAddress) ? null : 'invalid_permit2_spender'

const permitsToken: Rule = ({ permit, token }) =>
  isSameAddress(permit.token, token.address) ? null : 'permit2_token_mismatch'

const paysRecipient: Rule = ({ permit, payment }) => {
  const payTo = readAddress(payment.requirements.payTo)
  return payTo !== null && isSameAddress(permit.to, payTo) ? null : 'invalid_permit2_recipient_mismatch'
}

// A transfer to oneself only costs gas.
const paysSomeoneElse: Rule = ({ permit }) => (isSameAddress(permit.from, permit.to) ? 'self_payment' : null)

const asksForSomething: Rule = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

// The proxy transfers exactly what is permitted.
const permitsAmount: Rule = ({ permit, payment }) =>
  permit.amount === payment.requirements.amount ? null : 'permit2_amount_mismatch'

const hasStarted: Rule = ({ permit, nowSeconds }) =>
  permit.validAfter <= nowSeconds ? null : 'permit2_not_yet_valid'

const hasNotExpired: Rule = ({ permit, nowSeconds, marginSeconds }) =>
  permit.deadline >= nowSeconds + marginSeconds ? null : 'permit2_deadline_expired'

const checks: readonly Rule[] = [
  permitsProxy,
  permitsToken,
  paysRecipient,
  paysSomeoneElse,
  asksForSomething,
  permitsAmount,
  hasStarted,
  hasNotExpired,
]

export const findFailedCheck = (candidate: Candidate): Reason | null => runChecks(checks, candidate)
