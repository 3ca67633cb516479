import { type DirectNetworkSettings, defineDirectSettings } from '../common/direct/settings.js'
import { knownNetworks } from './networks.js'

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
