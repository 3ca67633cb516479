import type { AssetTerms } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import type { EvmNetworkSettings } from '../settings.js'
import type { Token, TokenRegistry } from './tokenRegistry.js'

/** Null asset: the network's first token. Null if it is not settled. */
export type DescribeToken = (asset: string | null) => Promise<AssetTerms | null>

/** With the domain that clients need to sign for the token. */
export const createDescribeToken =
  (
    { tokens: listed }: Pick<EvmNetworkSettings, 'tokens'>,
    tokens: Pick<TokenRegistry, 'find'>,
  ): DescribeToken =>
  async (asset) => {
    const address = readAddress(asset ?? listed[0]?.address)
    const finding = address === null ? null : await tokens.find(address)
    if (finding === null || 'refusedAs' in finding) return null
    const { token } = finding
    return { asset: asset ?? token.address, decimals: token.decimals, extra: domainOf(token) ?? {} }
  }

export const domainOf = ({ domain }: Token): Record<'name' | 'version', string> | undefined =>
  domain === null ? undefined : { name: domain.name, version: domain.version }
