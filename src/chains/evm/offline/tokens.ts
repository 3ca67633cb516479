import type { Hex } from 'viem'
import type { Token as ListedToken } from '../../../schemes/network.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
import { listKnownTokens } from '../../common/tokens.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { findKnownNetwork } from '../networks.js'
import type { FindToken, Token } from '../tokens/tokenRegistry.js'

export interface OfflineTokens {
  readonly find: FindToken
  /** Null asset: the network's first token. */
  describe(asset: string | null): AssetTerms | null
  list(): readonly ListedToken[]
}

/**
 * Names of the EIP-712 domain of USDC, of version 2. Published lists disagree on two networks: there, either name is
 * taken from the requirements, and the first is the default.
 */
const names: Readonly<Record<number, readonly [string, ...string[]]>> = {
  84532: ['USDC'],
  11155111: ['USDC'],
  421614: ['USD Coin', 'USDC'],
  11155420: ['USDC', 'USD Coin'],
}
const version = '2'

/** The built-in tokens of a network with a known domain; null for another network. */
export const createOfflineTokens = (chainId: number): OfflineTokens | null => {
  const domainNames = names[chainId]
  const tokens = findKnownNetwork(chainId)?.tokens ?? []
  if (domainNames === undefined || tokens.length === 0) return null
  const findKnown = (address: Hex) => tokens.find((token) => isSameAddress(token.address, address))
  return {
    find: async (address, { requirements }) => {
      const known = findKnown(address)
      if (known === undefined) return { refusedAs: 'unsupported_asset' }
      const name = domainNames.find((each) => each === requirements.extra.name) ?? domainNames[0]
      const domain = { name, version, isProven: true }
      const token: Token = { ...known, address, domain, isListed: true }
      return { token }
    },
    list: () => listKnownTokens(tokens.map(({ address, ...facts }) => ({ ...facts, asset: address }))),
    describe: (asset) => {
      const address = readAddress(asset ?? tokens[0]?.address)
      const known = address === null ? undefined : findKnown(address)
      if (known === undefined || address === null) return null
      return { asset: asset ?? address, decimals: known.decimals, extra: { name: domainNames[0], version } }
    },
  }
}
