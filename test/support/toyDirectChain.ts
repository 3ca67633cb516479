import type { DirectChain, LookUp, LookUpQuery } from '../../src/schemes/exactDirect/directChain.js'

export interface ToyDirectChain {
  readonly chain: DirectChain
  /** What the next look-ups find; default `missing`. */
  find(found: LookUp | Error): void
  listQueries(): readonly LookUpQuery[]
}

/** A network of names: addresses are lower-case words of any letter case, hashes are `tx-…`. */
export const createToyDirectChain = (changes: Partial<DirectChain> = {}): ToyDirectChain => {
  let found: LookUp | Error = { state: 'missing' }
  const queries: LookUpQuery[] = []
  const chain: DirectChain = {
    network: 'toy:1',
    extra: { assetSymbol: 'GOLD', assetDecimals: 6 },
    signers: [],
    carriesMemo: true,
    isTestnet: false,
    minAgeSeconds: 0,
    secondsToFinality: 1,
    pollIntervalMs: 1,
    readAddress: (text) => (/^[a-z]+$/i.test(text) ? text.toLowerCase() : null),
    readAsset: (text) => (/^(gold|silver|lead)$/i.test(text) ? text.toLowerCase() : null),
    readTransaction: (text) => (/^tx-[0-9a-z]+$/i.test(text) ? text.toLowerCase() : null),
    assets: ['gold', 'silver'],
    hasAsset: async (asset) => asset !== 'lead',
    isOffered: (asset) => asset !== 'lead',
    describeAsset: (asset) =>
      asset === 'lead' ? null : { asset: asset ?? 'gold', decimals: 6, extra: { assetSymbol: 'GOLD' } },
    listTokens: () => [{ asset: 'gold', symbol: 'GOLD', decimals: 6, isDollar: false }],
    readBalance: async () => 1_000_000n,
    estimateFee: null,
    readClaimedAsset: ({ contractAddress }) =>
      contractAddress === undefined
        ? null
        : typeof contractAddress === 'string'
          ? contractAddress
          : 'invalid',
    findContradiction: (asset, { contractAddress }) =>
      contractAddress === undefined || contractAddress === asset
        ? null
        : 'extra.contractAddress: must be the asset',
    lookUp: async (query) => {
      queries.push(query)
      if (found instanceof Error) throw found
      return found
    },
    isSignedBy: async ({ account, text, signature }) => signature === `${account} signs ${text}`,
    ...changes,
  }
  return {
    chain,
    find: (next) => {
      found = next
    },
    listQueries: () => queries,
  }
}
