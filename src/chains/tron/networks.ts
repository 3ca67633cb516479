import type { KnownSettlingNetwork } from '../common/settling/settings.js'

export interface KnownNetwork extends KnownSettlingNetwork {
  readonly name: string
  /** Last four bytes of the genesis block id. */
  readonly chainId: string
}

export const coinDecimals = 6

/** Contracts: Tether's on mainnet, and common test tokens. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'mainnet',
    chainId: '2b6653dc',
    isTestnet: false,
    // Rounded, from 2025.
    coinUsd: 0.3,
    tokens: [{ symbol: 'USDT', asset: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', decimals: 6 }],
  },
  {
    name: 'nile',
    chainId: 'cd8690dc',
    isTestnet: true,
    coinUsd: null,
    tokens: [
      { symbol: 'USDT', asset: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', decimals: 6 },
      { symbol: 'USDT', asset: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj', decimals: 6 },
    ],
  },
  {
    name: 'shasta',
    chainId: '94a9059e',
    isTestnet: true,
    coinUsd: null,
    tokens: [{ symbol: 'USDT', asset: 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs', decimals: 6 }],
  },
]

/** Null for an unknown name. */
export const findKnownNetwork = (name: string): KnownNetwork | null =>
  knownNetworks.find((known) => known.name === name) ?? null
