import type { Hex } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { addressWord, numberWord } from '../abi/words.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'
import { permit2Address } from './contracts.js'

/** A Permit2 authorization as the payer signed it; times in Unix seconds, addresses in EIP-55 form. */
export interface Permit {
  readonly from: Hex
  readonly token: Hex
  readonly amount: bigint
  readonly spender: Hex
  readonly nonce: bigint
  /** Permit2 accepts it up to and including this block time. */
  readonly deadline: bigint
  /** It is that of the witness, which binds the recipient. */
  readonly to: Hex
  readonly validAfter: bigint
}

export interface PermitProof<P extends Permit = Permit> {
  readonly permit: P
  readonly signature: Hex
}

export type ProofReading<P extends Permit = Permit> =
  | { readonly proof: PermitProof<P>; readonly witness: Readonly<Record<string, unknown>> }
  | { readonly problem: string }

/**
 * Reads an untrusted proof: what the permits of every proxy have. Returns the witness too, whose further fields differ.
 * Ignores extra fields, never throws.
 */
export const readPermitProof = (proof: unknown): ProofReading => {
  if (!isFields(proof)) return { problem: 'payload: must be an object' }
  const { signature, permit2Authorization: fields } = proof
  if (typeof signature !== 'string' || signature.length > 2 + 2 * maxSignatureBytes) {
    return { problem: `payload.signature: must be hex of at most ${maxSignatureBytes} bytes` }
  }
  if (!signatureForm.test(signature)) return { problem: 'payload.signature: must be hex bytes' }
  if (!isFields(fields)) return { problem: 'payload.permit2Authorization: must be an object' }
  const { permitted, witness } = fields
  if (!isFields(permitted)) return wrongField('permitted', 'an object')
  if (!isFields(witness)) return wrongField('witness', 'an object')

  const from = readAddress(fields.from)
  if (from === null) return wrongField('from', addressText)
  const token = readAddress(permitted.token)
  if (token === null) return wrongField('permitted.token', addressText)
  const amount = readUint256(permitted.amount)
  if (amount === null) return wrongField('permitted.amount', numberText)
  const spender = readAddress(fields.spender)
  if (spender === null) return wrongField('spender', addressText)
  const nonce = readUint256(fields.nonce)
  if (nonce === null) return wrongField('nonce', numberText)
  const deadline = readUint256(fields.deadline)
  if (deadline === null) return wrongField('deadline', numberText)
  const to = readAddress(witness.to)
  if (to === null) return wrongField('witness.to', addressText)
  const validAfter = readUint256(witness.validAfter)
  if (validAfter === null) return wrongField('witness.validAfter', numberText)
  const permit = { from, token, amount, spender, nonce, deadline, to, validAfter }
  return { proof: { permit, signature: `0x${signature.slice(2).toLowerCase()}` }, witness }
}

export const addressText = 'an EVM address'
const numberText = 'a uint256 in decimal digits'

export const wrongField = (field: string, expected: string): { readonly problem: string } => ({
  problem: `payload.permit2Authorization.${field}: must be ${expected}`,
})

/** The identity of a permit, in lower case: Permit2 allows one use per (owner, nonce), whatever the token. */
export const formatPermitId = (network: string, { from, nonce }: Pick<Permit, 'from' | 'nonce'>): string =>
  `${network}/${permit2Address}/${from}/0x${numberWord(nonce)}`.toLowerCase()

/** Permitted token and amount, nonce and deadline, as the ABI encodes them: calldata contains them in this order. */
export const encodePermittedWords = ({
  token,
  amount,
  nonce,
  deadline,
}: Pick<Permit, 'token' | 'amount' | 'nonce' | 'deadline'>): string =>
  addressWord(token) + numberWord(amount) + numberWord(nonce) + numberWord(deadline)
