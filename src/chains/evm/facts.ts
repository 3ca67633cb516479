import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { multicallAbi, multicallAddress, tokenAbi } from './abi.js'
import type { Authorization } from './authorization.js'
import type { CallRequest, Rpc } from './rpc.js'

/** What the token says of an authorization right now; null where the token does not answer the question. */
export interface AuthorizationFacts {
  /** Used or cancelled. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
}

/** Reads the facts that no signature can tell, in the state after a given block or now. */
export const readAuthorizationFacts = async (
  rpc: Rpc,
  asset: Hex,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
  at?: bigint,
): Promise<AuthorizationFacts> => {
  const block = at === undefined ? {} : { at }
  const [state, balance] = await Promise.all([
    rpc.call({
      ...block,
      to: asset,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args: [from, nonce] }),
    }),
    rpc.call({
      ...block,
      to: asset,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [from] }),
    }),
  ])
  return {
    isUsed: state.succeeds ? readWord(state.value, (word) => word !== 0n) : null,
    balance: balance.succeeds ? readWord(balance.value, (word) => word) : null,
  }
}

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
    callData: encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [payTo] }),
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
