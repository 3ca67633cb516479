import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'

export type SettleAmount = { readonly amount: bigint } | { readonly reason: Reason; readonly message: string }

interface SettleAmountRules {
  /** What the payer signed. */
  readonly authorizedMaximum: bigint
  /** False at verify: without `settleAmount`, the whole maximum is assumed. */
  readonly isForSettle: boolean
  /** x402: at settle without `settleAmount`, `requirements.amount` is the charge. */
  readonly isRequiredAmountCharge: boolean
}

type Amounts = Pick<Payment, 'settleAmount'> & {
  readonly requirements: Pick<Payment['requirements'], 'amount' | 'minAmount'>
}

/** What `upto` transfers: exactly the amount to settle, between `minAmount` and the maximum, or 0 for nothing. */
export const readSettleAmount = (
  { settleAmount, requirements }: Amounts,
  { authorizedMaximum, isForSettle, isRequiredAmountCharge }: SettleAmountRules,
): SettleAmount => {
  const charge = isForSettle && isRequiredAmountCharge ? requirements.amount : null
  const amount = settleAmount ?? charge ?? (isForSettle ? null : authorizedMaximum)
  if (amount === null) {
    return { reason: 'settle_amount_required', message: 'settleAmount: is required to settle this payment' }
  }
  // Beside `settleAmount`, `requirements.amount` is the maximum of the resource server; the payer may have signed more.
  const isBounded = settleAmount !== null && requirements.amount < authorizedMaximum
  const maximum = isBounded ? requirements.amount : authorizedMaximum
  if (amount > maximum) {
    return {
      reason: 'settle_amount_above_maximum',
      message: `The amount to settle, ${amount}, exceeds the maximum, ${maximum}`,
    }
  }
  const minimum = requirements.minAmount ?? 0n
  if (amount > 0n && amount < minimum) {
    return {
      reason: 'settle_amount_below_minimum',
      message: `The amount to settle, ${amount}, is lower than minAmount, ${minimum}, and not 0`,
    }
  }
  return { amount }
}
