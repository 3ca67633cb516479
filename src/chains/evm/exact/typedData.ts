import type { Hex } from 'viem'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { type SigningDomain, separatorOf } from '../tokens/tokenRegistry.js'
import type { Authorization } from './payload.js'

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
