import { decodeFunctionResult, encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { multicallAbi, multicallAddress } from '../abi/contracts.js'
import { addressWord } from '../abi/words.js'
import type { CallRequest, Rpc } from '../rpc/rpc.js'
import type { Authorization } from './payload.js'

/** What the token says of an authorization right now; null where the token does not answer the question. */
export interface AuthorizationState {
  /** Used or cancelled. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
}

/** Reads the facts that no signature can tell, in the state after a given block or now. */
export const readAuthorizationState = async (
  rpc: Rpc,
  asset: Hex,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
  at?: bigint,
): Promise<AuthorizationState> => {
  const block = at === undefined ? {} : { at }
  const [state, balance] = await Promise.all([
    rpc.call({ ...block, to: asset, data: encodeStateCall(from, nonce) }),
    rpc.call({ ...block, to: asset, data: encodeBalanceCall(from) }),
  ])
  return decodeAuthorizationState(
    state.succeeds ? state.value : null,
    balance.succeeds ? balance.value : null,
  )
}

const stateSelector = toFunctionSelector('authorizationState(address,bytes32)')
const balanceSelector = toFunctionSelector('balanceOf(address)')

/** Calldata that asks whether an authorization is used or cancelled. */
export const encodeStateCall = (from: Hex, nonce: Hex): Hex =>
  `${stateSelector}${addressWord(from)}${nonce.slice(2)}`

/** Calldata that asks for a balance. */
export const encodeBalanceCall = (owner: Hex): Hex => `${balanceSelector}${addressWord(owner)}`

/** The facts from the answers to both questions, null where the token failed. */
export const decodeAuthorizationState = (state: Hex | null, balance: Hex | null): AuthorizationState => ({
  isUsed: state === null ? null : readWord(state, (word) => word !== 0n),
  balance: balance === null ? null : readWord(balance, (word) => word),
})

/** A single returned word; a token that returns nothing has not answered. */
const readWord = <T>(data: Hex, read: (word: bigint) => T): T | null =>
  data.length < 66 ? null : read(BigInt(data.slice(0, 66)))

/**
 * Simulates the transfer between two looks at the recipient's balance and answers by how much it grew, or null
 * when that cannot be told. For tokens that nobody vouches for: one that takes a fee, or only pretends, shows here.
 */
export const simulateCredit = async (
  rpc: Rpc,
  asset: Hex,
  payTo: Hex,
  { data: transferData, ...call }: CallRequest,
): Promise<bigint | null> => {
  const balanceOf = {
    target: asset,
    allowFailure: false,
    callData: encodeBalanceCall(payTo),
  } as const
  const answer = await rpc.call({
    ...call,
    to: multicallAddress,
    data: encodeFunctionData({
      abi: multicallAbi,
      functionName: 'aggregate3',
      args: [[balanceOf, { target: asset, allowFailure: false, callData: transferData }, balanceOf]],
    }),
  })
  if (!answer.succeeds || answer.value === '0x') return null
  const results = decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data: answer.value })
  const [before, after] = [results[0], results[2]].map((result) =>
    result === undefined ? null : readWord(result.returnData, (word) => word),
  )
  return before == null || after == null ? null : after - before
}
