interface KnownToken {
  readonly symbol: string
  readonly mint: string
}

export interface KnownNetwork {
  readonly reference: string
  readonly name: string
  readonly publicRpcUrl: string
  readonly isTestnet: boolean
  readonly tokens: readonly KnownToken[]
}

/** Mints: as published by Circle, Tether and Paxos. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    reference: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    name: 'Solana',
    publicRpcUrl: 'https://api.mainnet-beta.solana.com',
    isTestnet: false,
    tokens: [
      { symbol: 'USDC', mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
      { symbol: 'USDT', mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' },
      { symbol: 'PYUSD', mint: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo' },
    ],
  },
  {
    reference: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    name: 'Solana Devnet',
    publicRpcUrl: 'https://api.devnet.solana.com',
    isTestnet: true,
    tokens: [
      { symbol: 'USDC', mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
      { symbol: 'PYUSD', mint: 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM' },
    ],
  },
]

/** Null for a cluster that is not built in. */
export const findKnownNetwork = (reference: string): KnownNetwork | null =>
  knownNetworks.find((network) => network.reference === reference) ?? null
