/** A token that a network is known for. */
export interface KnownToken {
  readonly symbol: string
  /** In base58, as wallets show it. */
  readonly contract: string
  readonly decimals: number
}

/** What is known of a TRON network without asking it. */
export interface KnownNetwork {
  /** The part of the network's identifier behind `tron:`. */
  readonly name: string
  /** The last four bytes of the id of its first block: what TRON itself calls the chain's id. */
  readonly chainId: string
  readonly tokens: readonly KnownToken[]
}

/** The networks that can be configured. Contracts: Tether's, and the test networks' usual ones. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    chainId: '2b6653dc',
    tokens: [{ symbol: 'USDT', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', decimals: 6 }],
  },
  {
    name: 'nile',
    chainId: 'cd8690dc',
    tokens: [
      { symbol: 'USDT', contract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', decimals: 6 },
      { symbol: 'USDT', contract: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj', decimals: 6 },
    ],
  },
  {
    name: 'shasta',
    chainId: '94a9059e',
    tokens: [{ symbol: 'USDT', contract: 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs', decimals: 6 }],
  },
]

/** The known network of that name, or null. */
export const findKnownNetwork = (name: string): KnownNetwork | null =>
  knownNetworks.find((known) => known.name === name) ?? null
