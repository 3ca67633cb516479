import type { Hex } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { UptoProof } from './payload.js'

export interface Candidate extends UptoProof {
  readonly payment: Payment
  readonly token: Token
  readonly payTo: Hex
  /** Addresses that the permit may name as its spender. */
  readonly routers: SpenderRouters
  readonly nowSeconds: bigint
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

export interface SpenderRouters {
  readonly shared: Hex
  readonly ofRecipient: Hex
  /**
   * Whether a permit for the shared router is settled: anyone who has seen it can present it for another recipient, unless
   * it is held for this one.
   */
  readonly takesShared: boolean
}

/** A rule that needs no chain access; null when it holds. */
type Rule = Check<Candidate, Reason>

// Another spender is not ours, or pays another recipient.
const permitsRouter: Rule = ({ permit: { spender }, routers: { shared, ofRecipient, takesShared } }) =>
  isSameAddress(spender, ofRecipient) || (takesShared && isSameAddress(spender, shared))
    ? null
    : 'invalid_permit_spender'

// A transfer to oneself only costs gas.
const paysSomeoneElse: Rule = ({ permit, payTo }) =>
  isSameAddress(permit.owner, payTo) ? 'self_payment' : null

const asksForSomething: Rule = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

const permitsMaximum: Rule = ({ permit, payment }) =>
  permit.value >= payment.requirements.amount ? null : 'permit_amount_mismatch'

const hasNotExpired: Rule = ({ permit, nowSeconds, marginSeconds }) =>
  permit.deadline >= nowSeconds + marginSeconds ? null : 'permit_expired'

const checks: readonly Rule[] = [
  permitsRouter,
  paysSomeoneElse,
  asksForSomething,
  permitsMaximum,
  hasNotExpired,
]

export const findFailedCheck = (candidate: Candidate): Reason | null => runChecks(checks, candidate)

export const readPayTo = ({ requirements }: Payment): Hex | null => readAddress(requirements.payTo)
