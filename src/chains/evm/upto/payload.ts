import type { Hex } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'
import { type SigningDomain, separatorOf } from '../tokens/tokenRegistry.js'

/** An EIP-2612 permit as the payer signed it; addresses in EIP-55 form. */
export interface TokenPermit {
  readonly owner: Hex
  readonly spender: Hex
  readonly value: bigint
  /** Unix seconds; the token accepts it up to and including this block time. */
  readonly deadline: bigint
  /** The owner's permit nonce of the token: sequential. */
  readonly nonce: bigint
}

export interface UptoProof {
  readonly permit: TokenPermit
  readonly signature: Hex
  /** Chosen by the client and not signed: only reported. */
  readonly paymentNonce: Hex
}

type ProofReading = { readonly proof: UptoProof } | { readonly problem: string }

/** Reads an untrusted proof. Ignores extra fields, never throws. */
export const readUptoProof = (proof: unknown): ProofReading => {
  if (!isFields(proof)) return { problem: 'payload: must be an object' }
  const { authorization: fields, paymentNonce } = proof
  const signature = readSignatureField(proof.signature)
  if (signature === null) {
    return {
      problem: `payload.signature: must be { v, r, s } or hex of at most ${maxSignatureBytes} bytes`,
    }
  }
  if (!isFields(fields)) return { problem: 'payload.authorization: must be an object' }
  const owner = readAddress(fields.owner)
  if (owner === null) return wrongField('owner', addressText)
  const spender = readAddress(fields.spender)
  if (spender === null) return wrongField('spender', addressText)
  const value = readUint256(fields.value)
  if (value === null) return wrongField('value', numberText)
  const deadline = readNumber(fields.deadline)
  if (deadline === null) return wrongField('deadline', numberText)
  const nonce = readNumber(fields.nonce)
  if (nonce === null) return wrongField('nonce', numberText)
  const reported = readPaymentNonce(paymentNonce)
  if (reported === null) return { problem: 'payload.paymentNonce: must be hex of at most 32 bytes' }
  return { proof: { permit: { owner, spender, value, deadline, nonce }, signature, paymentNonce: reported } }
}

/** Clients send numbers and decimal digits alike. */
const readNumber = (value: unknown): bigint | null =>
  typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
      ? BigInt(value)
      : null
    : readUint256(value)

const readSignatureField = (signature: unknown): Hex | null => {
  if (typeof signature === 'string') {
    const isHex = signature.length <= 2 + 2 * maxSignatureBytes && signatureForm.test(signature)
    return isHex ? `0x${signature.slice(2).toLowerCase()}` : null
  }
  if (!isFields(signature)) return null
  const { r, s } = signature
  const v = readNumber(signature.v)
  if (v === null || v > 255n || !isWord(r) || !isWord(s)) return null
  return `0x${`${r.slice(2)}${s.slice(2)}`.toLowerCase()}${v.toString(16).padStart(2, '0')}`
}

const isWord = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-fA-F]{64}$/.test(text)

const readPaymentNonce = (text: unknown): Hex | null => {
  if (typeof text !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(text)) return null
  return `0x${text.slice(2).toLowerCase().padStart(64, '0')}`
}

const addressText = 'an EVM address'
const numberText = 'a uint256 in decimal digits'

const wrongField = (field: string, expected: string): ProofReading => ({
  problem: `payload.authorization.${field}: must be ${expected}`,
})

/**
 * The identity of a permit, in lower case: the token accepts one permit of an owner with a nonce, whatever its spender.
 * The word keeps it apart from EIP-3009, whose nonces are another sequence.
 */
export const formatPermitId = (
  network: string,
  asset: Hex,
  { owner, nonce }: Pick<TokenPermit, 'owner' | 'nonce'>,
): string => `${network}/${asset}/permit/${owner}/${nonce}`.toLowerCase()

const typeHash = keccak(
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)',
).slice(2)

/** The EIP-712 digest of an EIP-2612 permit. */
export const hashTokenPermit = (
  { owner, spender, value, nonce, deadline }: TokenPermit,
  domain: SigningDomain,
): Hex => {
  const fields =
    addressWord(owner) + addressWord(spender) + numberWord(value) + numberWord(nonce) + numberWord(deadline)
  const structHash = keccak(Buffer.from(typeHash + fields, 'hex')).slice(2)
  return keccak(Buffer.from(`1901${separatorOf(domain).slice(2)}${structHash}`, 'hex'))
}
