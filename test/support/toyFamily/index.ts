import { defineChain } from '../../../src/chains/chain.js'
import { defineDirectSettings } from '../../../src/chains/common/direct/settings.js'

const { read, variables } = defineDirectSettings({
  namespace: 'town',
  networks: [
    { name: 'main', chainId: 'main', tokens: [{ asset: 'gold', symbol: 'GOLD', decimals: 6 }] },
    { name: 'test', chainId: 'test', isTestnet: true, tokens: [] },
  ],
  chainIdForm: /^[a-z]{1,32}$/,
  assetForm: /^[a-z]{1,32}$/,
  exampleAsset: 'gold',
  defaultPollIntervalMs: 10,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})

/** A family on which we only read, in as few files as one can have: this manifest, and `open.ts`. */
export const toyFamily = defineChain({
  namespace: 'town',
  variables,
  readSettings: read,
  load: () => import('./open.js'),
})
