/** A token that a network is known for. */
export interface KnownToken {
  readonly symbol: string
  /** In base58, as wallets show it. */
  readonly contract: string
}

/** What is known of a TRON network without asking it. */
export interface KnownNetwork {
  /** The part of the network's identifier behind `tron:`. */
  readonly name: string
  /** A public endpoint, used when the operator names none; rate-limited by those who run it. */
  readonly publicUrl: string
  readonly isTestnet: boolean
  readonly tokens: readonly KnownToken[]
}

/** The networks that work without further configuration. Contracts: Tether's, and the test networks' usual ones. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    publicUrl: 'https://api.trongrid.io',
    isTestnet: false,
    tokens: [{ symbol: 'USDT', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }],
  },
  {
    name: 'nile',
    publicUrl: 'https://nile.trongrid.io',
    isTestnet: true,
    tokens: [
      { symbol: 'USDT', contract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf' },
      { symbol: 'USDT', contract: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj' },
    ],
  },
  {
    name: 'shasta',
    publicUrl: 'https://api.shasta.trongrid.io',
    isTestnet: true,
    tokens: [{ symbol: 'USDT', contract: 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs' }],
  },
]
