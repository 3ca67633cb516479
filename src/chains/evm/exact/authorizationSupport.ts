import { type Hex, zeroAddress, zeroHash } from 'viem'
import { readWord } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import { encodeStateCall } from './authorizationState.js'

// Tokens come from requirements; one more than these is asked again.
const maxTokens = 1_000

/** Whether a token has EIP-3009, which `authorizationState` shows; asked once. */
export const createAuthorizationSupport = (rpc: Pick<Rpc, 'call'>) => {
  const known = new Map<string, boolean>()
  return async (asset: Hex): Promise<boolean> => {
    const key = asset.toLowerCase()
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const answer = await rpc.call({ to: asset, data: encodeStateCall(zeroAddress, zeroHash) })
    const isSupported = answer.succeeds && readWord(answer.value) !== null
    if (known.size >= maxTokens) known.clear()
    known.set(key, isSupported)
    return isSupported
  }
}
