import { AppError } from '../../errors.js'
import type { Payment } from '../../protocol/payment.js'
import { findUsageProblem } from '../../protocol/usage.js'

/**
 * Of a settlement under `upto`: the sentence about usage that does not agree with its charge, or null. Throws
 * INVALID_REQUEST for an unreadable field: usage comes from the resource server.
 */
export const findUsageMismatch = ({
  requirements,
  settleAmount,
  acceptedAmount,
  usageDetails,
}: Payment): string | null => {
  if (requirements.scheme !== 'upto' || usageDetails === null) return null
  const { amount, minAmount, extra } = requirements
  const problem = findUsageProblem(usageDetails, extra, {
    amount: settleAmount ?? amount,
    // Without `settleAmount`, `amount` is the charge, and what the client accepted is the maximum.
    maximum: settleAmount === null ? (acceptedAmount ?? amount) : amount,
    minimum: minAmount ?? 0n,
  })
  if (problem === null) return null
  if ('malformed' in problem) throw new AppError('INVALID_REQUEST', problem.malformed)
  return problem.mismatch
}
