import type { KnownDirectNetwork } from '../common/direct/settings.js'

/** Tether's own contract. Ghostnet has no such token: `TEZOS_TOKENS_ghostnet` is required. */
export const knownNetworks: readonly KnownDirectNetwork[] = [
  {
    name: 'mainnet',
    chainId: 'NetXdQprcVkpaWU',
    tokens: [{ asset: 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o:0', symbol: 'USDt', decimals: 6 }],
  },
  { name: 'ghostnet', chainId: 'NetXnHfVqm9iesp', isTestnet: true, tokens: [] },
]
