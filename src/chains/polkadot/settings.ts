import {
  type DirectNetworkSettings,
  defineDirectSettings,
  type KnownDirectNetwork,
} from '../common/direct/settings.js'

interface KnownAssetHub extends KnownDirectNetwork {
  /** SS58 prefix in which we write addresses. */
  readonly addressPrefix: number
}

/** The first 32 hex digits of the genesis hash are the CAIP-2 reference. */
export const knownNetworks: readonly KnownAssetHub[] = [
  {
    name: 'assethub',
    chainId: '68d56f15f85d3136970ec16946040bc1',
    addressPrefix: 0,
    tokens: [
      { asset: '1984', symbol: 'USDT', decimals: 6 },
      { asset: '1337', symbol: 'USDC', decimals: 6 },
    ],
  },
  {
    name: 'westend',
    chainId: '67f9723393ef76214df0118c34bbbd3d',
    isTestnet: true,
    addressPrefix: 42,
    // Every account can create assets there: the operator lists them.
    tokens: [],
  },
]

/** The generic prefix of Substrate on unknown networks. */
export const addressPrefixOf = (chainId: string): number =>
  knownNetworks.find((known) => known.chainId === chainId)?.addressPrefix ?? 42

export type PolkadotNetworkSettings = DirectNetworkSettings

export const { read: readPolkadotSettings, variables: polkadotVariables } = defineDirectSettings({
  namespace: 'polkadot',
  networks: knownNetworks,
  chainIdForm: /^[0-9a-f]{32}$/,
  // A u32.
  assetForm: /^(?:0|[1-9][0-9]{0,9})$/,
  exampleAsset: '1984',
  // Finality takes 20 to 60 seconds.
  defaultPollIntervalMs: 3_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})
