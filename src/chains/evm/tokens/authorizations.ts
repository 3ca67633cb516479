import { encodeEventTopics, type Hex, toFunctionSelector } from 'viem'
import { addressWord } from '../abi/words.js'
import { tokenAbi } from './erc20.js'

/* EIP-3009: a token takes one authorization per (from, nonce), whichever of its functions uses it. */

interface AuthorizationKey {
  readonly network: string
  readonly asset: Hex
  readonly from: Hex
  readonly nonce: Hex
}

/** The identity as text, in lower case; never contains signature bytes. */
export const formatAuthorizationId = ({ network, asset, from, nonce }: AuthorizationKey): string =>
  `${network}/${asset}/${from}/${nonce}`.toLowerCase()

const stateSelector = toFunctionSelector('authorizationState(address,bytes32)')

/** Calldata of `authorizationState`: whether an authorization is used or cancelled. */
export const encodeStateCall = (from: Hex, nonce: Hex): Hex =>
  `${stateSelector}${addressWord(from)}${nonce.slice(2)}`

export const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
export const [cancelledTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled' })
