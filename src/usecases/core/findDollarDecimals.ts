import { foldAddress } from '../../protocol/foldAddress.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'

/** Null if the asset is not known to be worth a dollar, and on testnets unless there is nothing else. */
export const findDollarDecimals = (
  registry: SchemeRegistry,
  scheme: Scheme,
  asset: string,
): number | null => {
  const token = scheme.listTokens?.().find((each) => foldAddress(each.asset) === foldAddress(asset))
  if (token?.isDollar !== true) return null
  const isWorthless = scheme.isTestnet === true && registry.list().some(({ isTestnet }) => isTestnet !== true)
  return isWorthless ? null : token.decimals
}
