import type { ListedTerms } from '../../ports/listedResource.js'
import { foldAddress } from '../../protocol/foldAddress.js'

/** Filters as tokens beside the words of a resource: words have no colon. */
export const filterTokens = {
  type: (type: string) => `t:${type}`,
  network: (network: string) => `n:${network}`,
  scheme: (scheme: string) => `s:${scheme}`,
  asset: (asset: string) => `a:${foldAddress(asset)}`,
  payTo: (payTo: string) => `p:${foldAddress(payTo)}`,
  extension: (key: string) => `x:${key}`,
} as const

export const listTermTokens = ({ network, scheme, asset, payTo }: ListedTerms): readonly string[] => [
  filterTokens.network(network),
  filterTokens.scheme(scheme),
  filterTokens.asset(asset),
  filterTokens.payTo(payTo),
]
