import { type Hex, toFunctionSelector } from 'viem'
import { multicallAddress } from '../abi/contracts.js'
import { decodeAggregate, encodeAggregate } from '../abi/multicall.js'
import { addressWord } from '../abi/words.js'
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
const balanceSelector = toFunctionSelector('balanceOf(address)')

/** Calldata of `authorizationState`: whether an authorization is used or cancelled. */
export const encodeStateCall = (from: Hex, nonce: Hex): Hex =>
  `${stateSelector}${addressWord(from)}${nonce.slice(2)}`

/** Calldata of `balanceOf`. */
export const encodeBalanceCall = (owner: Hex): Hex => `${balanceSelector}${addressWord(owner)}`

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

/** A returned word; null for a failed call and for a token that returns nothing. */
export const readWord = (data: Hex | null | undefined): bigint | null =>
  data == null || data.length < 66 ? null : BigInt(data.slice(0, 66))

/**
 * Transfers between two reads of the recipient's balance, for tokens that are not listed: detects transfer
 * fees and transfers without effect.
 */
export const planCreditProbe = (asset: Hex, payTo: Hex, { to, data }: ContractCall): ContractCall => {
  const balance = { target: asset, data: encodeBalanceCall(payTo) }
  return { to: multicallAddress, data: encodeAggregate([balance, { target: to, data }, balance]) }
}

/** By how much the recipient's balance grew in a probe, or null when that is unknown. */
export const decodeCredit = (answer: Hex): bigint | null => {
  const results = decodeAggregate(answer, 3)
  if (results === null || results.some(({ succeeds }) => !succeeds)) return null
  const [before, , after] = results.map(({ data }) => readWord(data))
  return before == null || after == null ? null : after - before
}
