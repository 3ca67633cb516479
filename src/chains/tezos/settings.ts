import { defineDirectSettings } from '../common/direct/settings.js'
import { nodeUrls } from '../common/familySettings.js'
import { knownNetworks } from './networks.js'

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
