import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'
import { isSameText } from '../../schemes/spelling.js'

/** Null if the asset is not known to be worth a dollar, and on testnets unless there is nothing else. */
export const findDollarDecimals = (
  registry: SchemeRegistry,
  scheme: Scheme,
  asset: string,
): number | null => {
  // Assets that are addresses have all spellings of one.
  const token = scheme.listTokens?.().find((each) => isSameText(scheme, each.asset, asset))
  if (token?.isDollar !== true) return null
  const isTestMoney = scheme.isTestnet === true && registry.list().some(({ isTestnet }) => isTestnet !== true)
  return isTestMoney ? null : token.decimals
}
