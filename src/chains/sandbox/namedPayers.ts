import { isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { OfflineScheme } from '../../schemes/offlineScheme.js'

// The longest form of an address has 67 characters.
const maxLength = 100

/**
 * Every payer that a payment names, in the form of answers: first where clients of the scheme name it, then in the
 * fields for payloads that are written by hand.
 */
export const listNamedPayers = (
  payment: Payment,
  { findPayer, network: { forms } }: Pick<OfflineScheme, 'findPayer' | 'network'>,
): readonly string[] => {
  const { proof, statedPayer } = payment
  const { authorization, payer } = proof
  const stated = [payer, isFields(authorization) ? authorization.payer : undefined, statedPayer].map(
    (text) => (typeof text === 'string' && text.length <= maxLength ? forms.readAddress(text) : null),
  )
  return [...new Set([findPayer(payment), ...stated].filter((each) => each !== null))]
}
