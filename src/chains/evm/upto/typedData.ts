import type { Hex } from 'viem'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { type SigningDomain, separatorOf } from '../tokens/tokenRegistry.js'
import type { TokenPermit } from './payload.js'

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
