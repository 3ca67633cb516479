import type { Hex } from 'viem'
import type { Payment } from '../../../../protocol/payment.js'
import type { Reason } from '../../../../protocol/reasons.js'
import { runChecks } from '../../../../schemes/checks.js'
import { readSettleAmount } from '../../../../schemes/settleAmount.js'
import { isSameAddress } from '../../abi/address.js'
import {
  type Candidate,
  hasNotExpired,
  hasStarted,
  paysRecipient,
  paysSomeoneElse,
  permitsProxy,
  permitsToken,
  type Rule,
} from '../checks.js'
import { uptoProxyAddress } from './contracts.js'
import type { UptoPermit } from './payload.js'

/** Who may call the proxy for us: our accounts, and our router. */
export interface Facilitators {
  readonly facilitators: readonly Hex[]
  /** Null on networks without one. */
  readonly router: Hex | null
}

/** x402 puts the charge in the place of the maximum at settle; `settleAmount` leaves the maximum where it is. */
export const chargeOf = ({ settleAmount, requirements }: Payment): bigint =>
  settleAmount ?? requirements.amount

/** The account or the router that a permit names; null if it is neither. */
export const findFacilitator = (
  { facilitator }: Pick<UptoPermit, 'facilitator'>,
  { facilitators, router }: Facilitators,
): { readonly router: Hex } | { readonly account: Hex } | null => {
  if (router !== null && isSameAddress(facilitator, router)) return { router }
  const account = facilitators.find((each) => isSameAddress(each, facilitator))
  return account === undefined ? null : { account }
}

const namesFacilitator =
  (ours: Facilitators): Rule<UptoPermit> =>
  ({ permit }) =>
    findFacilitator(permit, ours) === null ? 'upto_facilitator_mismatch' : null

// What a token credits cannot be simulated: the proxy takes no call by another contract that could read balances.
const paysInListedToken: Rule = ({ token }) => (token.isListed ? null : 'unsupported_asset')

const permitsSomething: Rule = ({ permit }) => (permit.amount > 0n ? null : 'invalid_payment_amount')

// At settle without `settleAmount` the requirements contain the charge, and only the permit the maximum.
const permitsMaximum: Rule = ({ permit, payment: { requirements, settleAmount }, isForSettle }) =>
  permit.amount === requirements.amount || (isForSettle && settleAmount === null)
    ? null
    : 'permit2_amount_mismatch'

const chargesWithinBounds: Rule = ({ permit, payment, isForSettle }) => {
  const settled = readSettleAmount(payment, {
    authorizedMaximum: permit.amount,
    isForSettle,
    isRequiredAmountCharge: true,
  })
  if ('amount' in settled) return null
  // x402's name.
  return settled.reason === 'settle_amount_above_maximum'
    ? 'invalid_upto_evm_payload_settlement_exceeds_amount'
    : settled.reason
}

export const createFindFailedCheck = (
  ours: Facilitators,
): ((candidate: Candidate<UptoPermit>) => Reason | null) => {
  const checks: readonly Rule<UptoPermit>[] = [
    permitsProxy(uptoProxyAddress),
    permitsToken,
    paysInListedToken,
    paysRecipient,
    paysSomeoneElse,
    namesFacilitator(ours),
    permitsSomething,
    permitsMaximum,
    chargesWithinBounds,
    hasStarted,
    hasNotExpired,
  ]
  return (candidate) => runChecks(checks, candidate)
}
