import { type Hex, parseAbi } from 'viem'
import { addressWord, numberWord } from '../../abi/words.js'
import { createPermitHash, encodePermittedWords, type Permit } from '../payload.js'

/** x402's proxy for `exact`: the only spender that payers permit. Any account may call it. */
export const exactProxyAddress = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'

/** `settleWithPermit` has five words of an EIP-2612 permit before the arguments of `settle`. */
export const exactProxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
])

const hash = createPermitHash('Witness(address to,uint256 validAfter)')

/** The EIP-712 digest of a permit with the proxy's witness. */
export const hashPermit = (permit: Permit, separator: Hex): Hex =>
  hash(permit, addressWord(permit.to) + numberWord(permit.validAfter), separator)

/**
 * The words that every call of the proxy for this permit contains, also inside a call of another contract:
 * permit, owner and witness, as the ABI encodes them.
 */
export const encodePermitWords = (permit: Omit<Permit, 'spender'>): string =>
  encodePermittedWords(permit) +
  addressWord(permit.from) +
  addressWord(permit.to) +
  numberWord(permit.validAfter)
