import type { Fields } from '../../../protocol/fields.js'
import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { listKnownTokens } from '../tokens.js'
import type { DirectToken } from './settings.js'

type TokenList = Pick<DirectChain, 'extra' | 'assets' | 'isOffered' | 'describeAsset' | 'listTokens'>

interface TokenForms {
  /** Normal form of an asset. */
  readonly readAsset: DirectChain['readAsset']
  /** The form that requirements use; default: the normal form. */
  readonly formatAsset?: (asset: string) => string
  /** What clients of the network need beside symbol and decimals. */
  readonly describeMore?: (asset: string) => Fields
}

/** The configured tokens, of which the first is the default, as `/supported` and requirements describe them. */
export const createTokenList = (
  tokens: readonly DirectToken[],
  { readAsset, formatAsset = (asset) => asset, describeMore = () => ({}) }: TokenForms,
): TokenList => {
  const offered = new Map<string, DirectToken>()
  for (const token of tokens) {
    const asset = readAsset(token.asset)
    if (asset !== null && !offered.has(asset)) offered.set(asset, token)
  }
  const describe = (asset: string, { symbol, decimals }: DirectToken): Fields => ({
    ...(symbol === null ? {} : { assetSymbol: symbol }),
    ...(decimals === null ? {} : { assetDecimals: decimals }),
    ...describeMore(asset),
  })
  const [first] = offered
  return {
    extra: first === undefined ? {} : describe(...first),
    assets: [...offered.keys()],
    isOffered: (asset) => offered.has(asset),
    listTokens: () => listKnownTokens([...offered].map(([asset, facts]) => ({ ...facts, asset }))),
    describeAsset: (named) => {
      const asset = named ?? first?.[0]
      const token = asset === undefined ? undefined : offered.get(asset)
      if (asset === undefined || token === undefined) return null
      return { asset: formatAsset(asset), decimals: token.decimals, extra: describe(asset, token) }
    },
  }
}
