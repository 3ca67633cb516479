import { type Fields, isFields } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'

interface OwnMethod {
  /** Values of `extra.assetTransferMethod` that mean the scheme's own method; x402 lists them. */
  readonly names: readonly string[]
  /** Fields of a proof of the own method; a proof with one of them is never foreign. */
  readonly fields: readonly string[]
}

/**
 * Sentence about a payment by another asset transfer method of `exact`, or null. Its proof is well-formed, so that a
 * structure error would mislead.
 */
export const describeForeignMethod = (
  { proof, requirements }: Pick<Payment, 'proof' | 'requirements'>,
  { names, fields }: OwnMethod,
): string | null => {
  const settled = `this facilitator settles ${names.join(', ')}`
  const { assetTransferMethod: required } = requirements.extra
  if (required != null && !(typeof required === 'string' && names.includes(required))) {
    return `paymentRequirements.extra.assetTransferMethod: ${nameOf(required)} is not supported; ${settled}`
  }
  const hasOwnField = fields.some((field) => proof[field] !== undefined)
  const method = isPermit(proof) ? 'an EIP-2612 permit' : hasOwnField ? null : findMethod(proof)
  return method === null ? null : `payload: ${method} is not supported; ${settled}`
}

const findMethod = (proof: Fields): string | null => {
  if (isFields(proof.permit2Authorization)) return 'a Permit2 authorization'
  if (typeof proof.delegationManager === 'string') return 'an ERC-7710 delegation'
  if (isFields(proof.authorization) && proof.authorization.nonce !== undefined) {
    return 'an EIP-3009 authorization'
  }
  return null
}

/** The payload of `upto` with a permit. */
const isPermit = ({ authorization }: Fields): boolean =>
  isFields(authorization) && authorization.owner !== undefined && authorization.from === undefined

/** Untrusted text is repeated only if it is short and plain. */
const nameOf = (method: unknown): string =>
  typeof method === 'string' && /^[\w-]{1,32}$/.test(method) ? method : 'this value'
