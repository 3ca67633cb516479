import { addressWord, numberWord } from '../../abi/words.js'
import { encodePermittedWords, type Permit } from '../payload.js'

/**
 * The words that every call of the proxy for this permit contains, also inside a call of another contract:
 * permit, owner and witness, as the ABI encodes them.
 */
export const encodePermitWords = (permit: Omit<Permit, 'spender'>): string =>
  encodePermittedWords(permit) +
  addressWord(permit.from) +
  addressWord(permit.to) +
  numberWord(permit.validAfter)
