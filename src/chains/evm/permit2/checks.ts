import type { Hex } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Check } from '../../../schemes/checks.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { Permit, PermitProof } from './payload.js'

/** A payment by Permit2 with what its rules need. */
export interface Candidate<P extends Permit = Permit> extends PermitProof<P> {
  readonly payment: Payment
  readonly token: Token
  readonly nowSeconds: bigint
  readonly isForSettle: boolean
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

/** A rule that needs no chain access; null when it holds. */
export type Rule<P extends Permit = Permit> = Check<Candidate<P>, Reason>

/** Another spender could direct the funds to any recipient. */
export const permitsProxy =
  (proxy: Hex): Rule =>
  ({ permit }) =>
    isSameAddress(permit.spender, proxy) ? null : 'invalid_permit2_spender'

export const permitsToken: Rule = ({ permit, token }) =>
  isSameAddress(permit.token, token.address) ? null : 'permit2_token_mismatch'

export const paysRecipient: Rule = ({ permit, payment }) => {
  const payTo = readAddress(payment.requirements.payTo)
  return payTo !== null && isSameAddress(permit.to, payTo) ? null : 'invalid_permit2_recipient_mismatch'
}

/** A transfer to oneself only costs gas. */
export const paysSomeoneElse: Rule = ({ permit }) =>
  isSameAddress(permit.from, permit.to) ? 'self_payment' : null

export const hasStarted: Rule = ({ permit, nowSeconds }) =>
  permit.validAfter <= nowSeconds ? null : 'permit2_not_yet_valid'

export const hasNotExpired: Rule = ({ permit, nowSeconds, marginSeconds }) =>
  permit.deadline >= nowSeconds + marginSeconds ? null : 'permit2_deadline_expired'
