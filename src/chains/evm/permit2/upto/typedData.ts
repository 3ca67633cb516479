import type { Hex } from 'viem'
import { addressWord, numberWord } from '../../abi/words.js'
import { createPermitHash } from '../typedData.js'
import type { UptoPermit } from './payload.js'

const hash = createPermitHash('Witness(address to,address facilitator,uint256 validAfter)')

/** The EIP-712 digest of a permit with the proxy's witness; it contains the maximum, never the charge. */
export const hashUptoPermit = (permit: UptoPermit, separator: Hex): Hex => {
  const { to, facilitator, validAfter } = permit
  return hash(permit, addressWord(to) + addressWord(facilitator) + numberWord(validAfter), separator)
}
