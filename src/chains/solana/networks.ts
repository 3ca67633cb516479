import type { KnownSettlingNetwork } from '../common/settling/settings.js'

export interface KnownNetwork extends KnownSettlingNetwork {
  readonly reference: string
  readonly name: string
  readonly publicRpcUrl: string
}

export const coinDecimals = 9

/** Mints: as published by Circle, Tether and Paxos. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    reference: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    name: 'mainnet',
    publicRpcUrl: 'https://api.mainnet-beta.solana.com',
    isTestnet: false,
    // Rounded, from 2025.
    coinUsd: 150,
    tokens: [
      { symbol: 'USDC', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6 },
      { symbol: 'USDT', asset: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', decimals: 6 },
      { symbol: 'PYUSD', asset: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', decimals: 6 },
    ],
  },
  {
    reference: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    name: 'devnet',
    publicRpcUrl: 'https://api.devnet.solana.com',
    isTestnet: true,
    coinUsd: null,
    tokens: [
      { symbol: 'USDC', asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', decimals: 6 },
      { symbol: 'PYUSD', asset: 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM', decimals: 6 },
    ],
  },
]

/** Null for a cluster that is not built in. */
export const findKnownNetwork = (reference: string): KnownNetwork | null =>
  knownNetworks.find((network) => network.reference === reference) ?? null
