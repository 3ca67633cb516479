import { defineDirectSettings, type KnownDirectNetwork } from '../common/direct/settings.js'
import { nodeUrls } from '../common/familySettings.js'

/** Tether's own contract. Ghostnet has no such token: `TEZOS_TOKENS_ghostnet` is required. */
export const knownNetworks: readonly KnownDirectNetwork[] = [
  {
    name: 'mainnet',
    chainId: 'NetXdQprcVkpaWU',
    tokens: [{ asset: 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o:0', symbol: 'USDt', decimals: 6 }],
  },
  { name: 'ghostnet', chainId: 'NetXnHfVqm9iesp', isTestnet: true, tokens: [] },
]

const { read, variables } = defineDirectSettings({
  namespace: 'tezos',
  networks: knownNetworks,
  chainIdForm: /^Net[1-9A-HJ-NP-Za-km-z]{12}$/,
  assetForm: /^KT1[1-9A-HJ-NP-Za-km-z]{33}([:/](0|[1-9][0-9]{0,77}))?$/,
  exampleAsset: 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o:0',
  defaultPollIntervalMs: 2_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: { TZKT_URL: nodeUrls.optional() },
  otherUrl: 'TZKT_URL',
})

export const readTezosSettings = read
export const tezosVariables = variables
