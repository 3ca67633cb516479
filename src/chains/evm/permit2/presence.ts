import { type Hex, toFunctionSelector } from 'viem'
import { addressWord } from '../abi/words.js'
import { type ContractPresence, createPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import { eip2612Sponsoring } from './gasSponsoring.js'
import { permit2Address, permit2Separator } from './payload.js'

const domainSelector = toFunctionSelector('DOMAIN_SEPARATOR()')
const permit2Selector = toFunctionSelector('PERMIT2()')

/**
 * Whether a network has Permit2 and one of x402's proxies, by what the contracts return: Permit2's EIP-712 domain, and
 * the Permit2 that the proxy calls.
 */
export const createProxyPresence = (rpc: Rpc, chainId: number, proxy: Hex): ContractPresence => {
  const separator = permit2Separator(chainId)
  const returns = async (to: Hex, data: Hex, expected: Hex): Promise<boolean> => {
    const answer = await rpc.call({ to, data })
    return answer.succeeds && answer.value.toLowerCase() === expected
  }
  return createPresence(async () => {
    const [hasPermit2, hasProxy] = await Promise.all([
      returns(permit2Address, domainSelector, separator),
      returns(proxy, permit2Selector, `0x${addressWord(permit2Address)}`),
    ])
    return hasPermit2 && hasProxy
  })
}

/** Extensions that work by the proxy, for /supported. */
export const listProxyExtensions = (presence: Pick<ContractPresence, 'peek'>): readonly string[] =>
  presence.peek() === true ? [eip2612Sponsoring] : []
