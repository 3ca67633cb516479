import type { Hex } from 'viem'
import { addressWord, numberWord } from '../../abi/words.js'
import type { Permit } from '../payload.js'
import { createPermitHash } from '../typedData.js'

const hash = createPermitHash('Witness(address to,uint256 validAfter)')

/** The EIP-712 digest of a permit with the proxy's witness. */
export const hashPermit = (permit: Permit, separator: Hex): Hex =>
  hash(permit, addressWord(permit.to) + numberWord(permit.validAfter), separator)
