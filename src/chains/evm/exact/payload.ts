import type { Hex } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'
import { type SigningDomain, separatorOf } from '../tokens/tokenRegistry.js'

/** An EIP-3009 authorization as the payer signed it; times in Unix seconds, addresses in EIP-55 form. */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes, lower case. */
  readonly nonce: Hex
}

export interface ExactProof {
  readonly authorization: Authorization
  readonly signature: Hex
}

type ProofReading = { readonly proof: ExactProof } | { readonly problem: string }

/** Reads an untrusted proof. Ignores extra fields, never throws. */
export const readExactProof = (proof: unknown): ProofReading => {
  // This is written by hand: a schema library takes several times as long, on every verification.
  if (!isFields(proof)) return { problem: 'payload: must be an object' }
  const signature = readHex(signatureForm, proof.signature)
  if (signature === null) return { problem: 'payload.signature: must be hex bytes' }
  if (signature.length > 2 + 2 * maxSignatureBytes) return { problem: 'payload.signature: is too long' }
  const fields = proof.authorization
  if (!isFields(fields)) return { problem: 'payload.authorization: must be an object' }

  const from = readAddress(fields.from)
  if (from === null) return wrongField('from', 'an EVM address')
  const to = readAddress(fields.to)
  if (to === null) return wrongField('to', 'an EVM address')
  const value = readUint256(fields.value)
  if (value === null) return wrongField('value', 'a uint256 in decimal digits')
  const validAfter = readUint256(fields.validAfter)
  if (validAfter === null) return wrongField('validAfter', 'a uint256 in decimal digits')
  const validBefore = readUint256(fields.validBefore)
  if (validBefore === null) return wrongField('validBefore', 'a uint256 in decimal digits')
  const nonce = readHex(nonceForm, fields.nonce)
  if (nonce === null) return wrongField('nonce', '32 bytes of hex')
  return { proof: { signature, authorization: { from, to, value, validAfter, validBefore, nonce } } }
}

const wrongField = (field: string, expected: string): ProofReading => ({
  problem: `payload.authorization.${field}: must be ${expected}`,
})

const nonceForm = /^0x[0-9a-fA-F]{64}$/

/** Hex of a given form, in lower case, or null. */
const readHex = (form: RegExp, text: unknown): Hex | null =>
  typeof text === 'string' && form.test(text) ? `0x${text.slice(2).toLowerCase()}` : null

const typeHash = keccak(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
).slice(2)

/**
 * The EIP-712 digest of an EIP-3009 authorization. Hand-written for this one struct: the general encoder
 * costs several times as much.
 */
export const hashAuthorization = (
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  domain: SigningDomain,
): Hex => {
  const fields =
    addressWord(from) + addressWord(to) + numberWord(value) + numberWord(validAfter) + numberWord(validBefore)
  const structHash = keccak(Buffer.from(typeHash + fields + nonce.slice(2), 'hex'))
  return keccak(Buffer.from(`1901${separatorOf(domain).slice(2)}${structHash.slice(2)}`, 'hex'))
}
