import { type Hex, parseAbi } from 'viem'
import { readAddress } from '../../abi/address.js'
import { addressWord, numberWord } from '../../abi/words.js'
import {
  addressText,
  createPermitHash,
  encodePermittedWords,
  type Permit,
  type ProofReading,
  readPermitProof,
  wrongField,
} from '../payload.js'

/** x402's proxy for `upto`: the only spender that payers permit. Only the witness's facilitator may call it. */
export const uptoProxyAddress = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

/** `settleWithPermit` has five words of an EIP-2612 permit before the arguments of `settle`. */
export const uptoProxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
])

/** `amount` is the maximum: the facilitator that the witness names decides the charge. */
export interface UptoPermit extends Permit {
  /** The only account or contract that the proxy takes a call from. */
  readonly facilitator: Hex
}

/** Reads an untrusted proof. Ignores extra fields, never throws. */
export const readUptoProof = (proof: unknown): ProofReading<UptoPermit> => {
  const reading = readPermitProof(proof)
  if ('problem' in reading) return reading
  const { witness } = reading
  const { permit, signature } = reading.proof
  const facilitator = readAddress(witness.facilitator)
  if (facilitator === null) return wrongField('witness.facilitator', addressText)
  return { proof: { permit: { ...permit, facilitator }, signature }, witness }
}

/** The words that every call of the proxy for this permit and charge contains, as the ABI encodes them. */
export const encodeChargeWords = (permit: Omit<UptoPermit, 'spender'>, charge: bigint): string =>
  encodePermittedWords(permit) +
  numberWord(charge) +
  addressWord(permit.from) +
  addressWord(permit.to) +
  addressWord(permit.facilitator) +
  numberWord(permit.validAfter)

const hash = createPermitHash('Witness(address to,address facilitator,uint256 validAfter)')

/** The EIP-712 digest of a permit with the proxy's witness; it contains the maximum, never the charge. */
export const hashUptoPermit = (permit: UptoPermit, separator: Hex): Hex => {
  const { to, facilitator, validAfter } = permit
  return hash(permit, addressWord(to) + addressWord(facilitator) + numberWord(validAfter), separator)
}
