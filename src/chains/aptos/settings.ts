import { defineDirectSettings, type KnownDirectNetwork } from '../common/direct/settings.js'

/** Metadata objects: Circle's and Tether's own, and those of the published token lists. */
export const knownNetworks: readonly KnownDirectNetwork[] = [
  {
    name: 'mainnet',
    chainId: '1',
    tokens: [
      {
        asset: '0xbae207659db88bea0cbead6da0ed00aac12edcdda169e591cd41c94180b46f3b',
        symbol: 'USDC',
        decimals: 6,
      },
      {
        asset: '0x357b0b74bc833e95a115ad22604854d6b0fca151cecd94111770e5d6ffc9dc2b',
        symbol: 'USDT',
        decimals: 6,
      },
      {
        asset: '0xf73e887a8754f540ee6e1a93bdc6dde2af69fc7ca5de32013e89dd44244473cb',
        symbol: 'USDT',
        decimals: 6,
        // It is in t402's token list.
        isIssuers: false,
      },
    ],
  },
  {
    name: 'testnet',
    chainId: '2',
    isTestnet: true,
    tokens: [
      {
        asset: '0x43417434fd869edee76cca2a4d2301e528a1551b1d719b75c350c3c97d15b8b9',
        symbol: 'USDT',
        decimals: 6,
      },
    ],
  },
]

const { read, variables } = defineDirectSettings({
  namespace: 'aptos',
  networks: knownNetworks,
  chainIdForm: /^[1-9][0-9]{0,2}$/,
  assetForm: /^0x[0-9a-fA-F]{1,64}$/,
  exampleAsset: '0xbae207659db88bea0cbead6da0ed00aac12edcdda169e591cd41c94180b46f3b',
  hasApiKey: true,
  defaultPollIntervalMs: 500,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})

export const readAptosSettings = read
export const aptosVariables = variables
