import {
  type DirectNetworkSettings,
  defineDirectSettings,
  type KnownDirectNetwork,
} from '../common/direct/settings.js'

/** Contracts: Circle's and Tether's on mainnet, and common test tokens. */
export const knownNetworks: readonly KnownDirectNetwork[] = [
  {
    name: 'mainnet',
    chainId: 'mainnet',
    tokens: [
      {
        asset: '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1',
        symbol: 'USDC',
        decimals: 6,
      },
      { asset: 'usdt.tether-token.near', symbol: 'USDT', decimals: 6 },
    ],
  },
  {
    name: 'testnet',
    chainId: 'testnet',
    isTestnet: true,
    tokens: [
      { asset: 'usdc.fakes.testnet', symbol: 'USDC', decimals: 6 },
      { asset: 'usdt.fakes.testnet', symbol: 'USDT', decimals: 6 },
    ],
  },
]

const accountId = /^(?=.{2,64}$)[a-z0-9]+(?:[-_.][a-z0-9]+)*$/

const settings = defineDirectSettings({
  namespace: 'near',
  networks: knownNetworks,
  chainIdForm: /^[a-zA-Z0-9_-]{1,32}$/,
  assetForm: accountId,
  exampleAsset: 'usdt.tether-token.near',
  signerForm: accountId,
  hasApiKey: true,
  defaultPollIntervalMs: 1_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})

export type NearNetworkSettings = DirectNetworkSettings<Readonly<Record<string, never>>>

export const nearVariables = settings.variables
export const readNearSettings = settings.read
