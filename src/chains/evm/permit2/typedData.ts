import { domainSeparator, type Hex } from 'viem'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { permit2Address } from './contracts.js'
import type { Permit } from './payload.js'

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
