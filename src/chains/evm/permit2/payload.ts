import { domainSeparator, type Hex, parseAbi } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'

/** Uniswap's Permit2 has this address on nearly every EVM chain. */
export const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** Functions, events and errors of Permit2's signature transfers. A transfer emits no event. */
export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)',
  'event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)',
  'error SignatureExpired(uint256 signatureDeadline)',
  'error InvalidAmount(uint256 maxAmount)',
  'error InvalidNonce()',
  'error InvalidSignature()',
  'error InvalidSignatureLength()',
  'error InvalidSigner()',
  'error InvalidContractSignature()',
])

/** Events and errors that both of x402's proxies have. No event names a permit. */
export const proxyAbi = parseAbi([
  'event Settled()',
  'event SettledWithPermit()',
  'error PaymentTooEarly()',
  'error AmountExceedsPermitted()',
  'error UnauthorizedFacilitator()',
  'error Permit2612AmountMismatch()',
])

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

const permittedType = 'TokenPermissions(address token,uint256 amount)'
const permittedTypeHash = keccak(permittedType).slice(2)

/** Permit2's EIP-712 domain has no version. */
export const permit2Separator = (chainId: number): Hex =>
  domainSeparator({ domain: { name: 'Permit2', chainId, verifyingContract: permit2Address } })

/** Digests of permits whose witness has one type, such as `Witness(address to,uint256 validAfter)`. */
export const createPermitHash = (witnessType: string) => {
  const witnessTypeHash = keccak(witnessType).slice(2)
  const permitTypeHash = keccak(
    `PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)${permittedType}${witnessType}`,
  ).slice(2)
  return ({ token, amount, spender, nonce, deadline }: Permit, witnessWords: string, separator: Hex): Hex => {
    const permitted = hashWords(permittedTypeHash + addressWord(token) + numberWord(amount))
    const witness = hashWords(witnessTypeHash + witnessWords)
    const struct = hashWords(
      permitTypeHash + permitted + addressWord(spender) + numberWord(nonce) + numberWord(deadline) + witness,
    )
    return keccak(Buffer.from(`1901${separator.slice(2)}${struct}`, 'hex'))
  }
}

const hashWords = (words: string): string => keccak(Buffer.from(words, 'hex')).slice(2)
