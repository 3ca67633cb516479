import type { KnownDirectNetwork } from '../common/direct/settings.js'

export interface KnownCosmosNetwork extends KnownDirectNetwork {
  /** Account addresses (bech32) begin with it. */
  readonly prefix: string
}

/** Noble, where Circle issues USDC, and its test network. */
export const knownNetworks: readonly KnownCosmosNetwork[] = [
  {
    name: 'noble',
    chainId: 'noble-1',
    prefix: 'noble',
    tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
  },
  {
    name: 'grand',
    chainId: 'grand-1',
    isTestnet: true,
    prefix: 'noble',
    tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
  },
]
