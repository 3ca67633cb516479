import { isFields } from './fields.js'

const address = /^[\x21-\x7e]{1,256}$/

/**
 * The payer that a proof names in clear, as it is written there; null where only a scheme can read it. For refusals
 * before a scheme has looked at the payment.
 */
export const findClaimedPayer = (proof: unknown): string | null => {
  if (!isFields(proof)) return null
  const form = [proof.authorization, proof.permit2Authorization].find(isFields)
  const { from, owner } = form ?? proof
  const payer = from ?? owner
  return typeof payer === 'string' && address.test(payer) ? payer : null
}
