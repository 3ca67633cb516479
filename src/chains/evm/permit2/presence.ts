import { type Hex, toFunctionSelector } from 'viem'
import { addressWord } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import { permit2Address } from './contracts.js'
import { eip2612Sponsoring } from './gasSponsoring.js'
import { permit2Separator } from './typedData.js'

/** Whether a network has Permit2 and one of x402's proxies. */
export interface Permit2Presence {
  /** Throws if no node answers. A missing contract may be deployed later and is asked for again. */
  ask(): Promise<boolean>
  /** False before the first positive answer, which it asks for in the background. */
  peek(): boolean
}

const domainSelector = toFunctionSelector('DOMAIN_SEPARATOR()')
const permit2Selector = toFunctionSelector('PERMIT2()')

/** By what the contracts return: Permit2's EIP-712 domain, and the Permit2 that the proxy calls. */
export const createProxyPresence = (rpc: Rpc, chainId: number, proxy: Hex): Permit2Presence => {
  const separator = permit2Separator(chainId)
  let isKnown = false
  const returns = async (to: Hex, data: Hex, expected: Hex): Promise<boolean> => {
    const answer = await rpc.call({ to, data })
    return answer.succeeds && answer.value.toLowerCase() === expected
  }
  const presence: Permit2Presence = {
    peek: () => {
      if (!isKnown) presence.ask().catch(() => undefined)
      return isKnown
    },
    ask: async () => {
      if (isKnown) return true
      const [hasPermit2, hasProxy] = await Promise.all([
        returns(permit2Address, domainSelector, separator),
        returns(proxy, permit2Selector, `0x${addressWord(permit2Address)}`),
      ])
      isKnown = hasPermit2 && hasProxy
      return isKnown
    },
  }
  return presence
}

/** Extensions that work by the proxy, for /supported. */
export const listProxyExtensions = (presence: Permit2Presence): readonly string[] =>
  presence.peek() ? [eip2612Sponsoring] : []
