import { type Hex, toFunctionSelector } from 'viem'
import { addressWord, readWord } from '../abi/words.js'
import { encodeBalanceCall } from '../tokens/erc20.js'
import type { ContractCall, ReadAnswers } from '../transactions/settlementCall.js'
import type { TokenPermit } from './payload.js'

/** Null values: the token did not return them. */
export interface PermitState {
  /** The owner's next permit nonce. */
  readonly nonce: bigint | null
  /** In smallest units. */
  readonly balance: bigint | null
  /** What the spender may take from the owner, in smallest units. */
  readonly allowance: bigint | null
}

const noncesSelector = toFunctionSelector('nonces(address)')
const allowanceSelector = toFunctionSelector('allowance(address,address)')

/** Calldata of EIP-2612's `nonces`. */
export const encodeNonceCall = (owner: Hex): Hex => `${noncesSelector}${addressWord(owner)}`

/** The calls whose answers `decodePermitState` takes. */
export const planStateReads = (
  asset: Hex,
  { owner, spender }: Pick<TokenPermit, 'owner' | 'spender'>,
): readonly ContractCall[] => [
  { to: asset, data: encodeNonceCall(owner) },
  { to: asset, data: encodeBalanceCall(owner) },
  { to: asset, data: `${allowanceSelector}${addressWord(owner)}${addressWord(spender)}` },
]

export const decodePermitState = ([nonce, balance, allowance]: ReadAnswers): PermitState => ({
  nonce: readWord(nonce),
  balance: readWord(balance),
  allowance: readWord(allowance),
})
