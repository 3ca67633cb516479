import type { Scheme } from '../../schemes/scheme.js'

/**
 * Refuses payments under `exact` of more than the required amount. What was admitted before is settled; what payers have
 * sent themselves (`exact-direct`) is paid, and a surplus must not keep it from counting.
 */
export const requireExactAmount = (scheme: Scheme): Scheme => {
  if (scheme.kind.scheme !== 'exact') return scheme
  const verify: Scheme['verify'] = async (payment, options) => {
    const verdict = await scheme.verify(payment, options)
    const { amount } = payment.requirements
    if (!verdict.isValid || options.isAdmitted === true || verdict.amount === amount) return verdict
    return {
      isValid: false,
      payer: verdict.payer,
      reason: 'amount_mismatch',
      message: `The payment is of ${verdict.amount}, and this facilitator settles exactly the required ${amount} only`,
    }
  }
  return { ...scheme, verify }
}
