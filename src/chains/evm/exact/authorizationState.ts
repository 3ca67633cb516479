import { type Hex, toFunctionSelector } from 'viem'
import { addressWord, readWord } from '../abi/words.js'
import { encodeBalanceCall } from '../tokens/erc20.js'
import type { ContractCall, ReadAnswers } from '../transactions/settlementCall.js'
import type { Authorization } from './payload.js'

/** Null values: the token did not return them. */
export interface AuthorizationState {
  /** Used or cancelled. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
}

const stateSelector = toFunctionSelector('authorizationState(address,bytes32)')

/** Calldata of `authorizationState`: whether an authorization is used or cancelled. */
export const encodeStateCall = (from: Hex, nonce: Hex): Hex =>
  `${stateSelector}${addressWord(from)}${nonce.slice(2)}`

/** The calls whose answers `decodeAuthorizationState` takes. */
export const planStateReads = (
  asset: Hex,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
): readonly ContractCall[] => [
  { to: asset, data: encodeStateCall(from, nonce) },
  { to: asset, data: encodeBalanceCall(from) },
]

export const decodeAuthorizationState = ([state, balance]: ReadAnswers): AuthorizationState => {
  const used = readWord(state)
  return { isUsed: used === null ? null : used !== 0n, balance: readWord(balance) }
}
