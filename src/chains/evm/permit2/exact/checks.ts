import type { Reason } from '../../../../protocol/reasons.js'
import { runChecks } from '../../../../schemes/checks.js'
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
import { exactProxyAddress } from './contracts.js'

const asksForSomething: Rule = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

// The proxy transfers exactly what is permitted.
const permitsAmount: Rule = ({ permit, payment }) =>
  permit.amount === payment.requirements.amount ? null : 'permit2_amount_mismatch'

const checks: readonly Rule[] = [
  permitsProxy(exactProxyAddress),
  permitsToken,
  paysRecipient,
  paysSomeoneElse,
  asksForSomething,
  permitsAmount,
  hasStarted,
  hasNotExpired,
]

export const findFailedCheck = (candidate: Candidate): Reason | null => runChecks(checks, candidate)
