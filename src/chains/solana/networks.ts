/** A token that a network is known for. */
export interface KnownToken {
  readonly symbol: string
  /** The mint, in base58. */
  readonly mint: string
}

/** What is known of a Solana cluster without asking it. */
export interface KnownNetwork {
  /** The CAIP-2 reference: the first 32 characters of the genesis hash. */
  readonly reference: string
  readonly name: string
  /** A public endpoint, used when the operator names none; rate-limited by those who run it. */
  readonly publicRpcUrl: string
  readonly isTestnet: boolean
  readonly tokens: readonly KnownToken[]
}

/** The clusters that work without further configuration. Mints: Circle's, Tether's and Paxos' published lists. */
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

/** What is known of a cluster, or null of one that only the operator knows. */
export const findKnownNetwork = (reference: string): KnownNetwork | null =>
  knownNetworks.find((network) => network.reference === reference) ?? null
