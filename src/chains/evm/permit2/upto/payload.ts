import type { Hex } from 'viem'
import { readAddress } from '../../abi/address.js'
import { addressWord, numberWord } from '../../abi/words.js'
import {
  addressText,
  encodePermittedWords,
  type Permit,
  type ProofReading,
  readPermitProof,
  wrongField,
} from '../payload.js'

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
