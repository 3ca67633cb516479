import { AppError } from '../../errors.js'
import { canonicalNetwork, namespaceOf } from '../../protocol/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { WalletQuery } from '../useCases.js'

/** One address of one family. */
export interface Wallet {
  /** As the credit store names it. */
  readonly key: string
  readonly namespace: string
  readonly address: string
}

/** The wallets that an address can stand for, in the order of the registry. Throws if it is an address of no family. */
export const findWallets = (
  registry: SchemeRegistry,
  { wallet: text, network }: WalletQuery,
): readonly [Wallet, ...Wallet[]] => {
  const wanted = network === undefined ? null : canonicalNetwork(network)
  const schemes = registry.list().filter(({ kind }) => wanted === null || kind.network === wanted)
  if (schemes.length === 0)
    throw new AppError('INVALID_REQUEST', 'network: this facilitator does not support it')
  const found = new Map<string, Wallet>()
  for (const scheme of schemes) {
    const address = scheme.network.normalizeAddress(text)
    if (address === null) continue
    const namespace = namespaceOf(scheme.kind.network)
    const key = `${namespace}:${address}`
    if (!found.has(key)) found.set(key, { key, namespace, address })
  }
  const [first, ...others] = found.values()
  if (first !== undefined) return [first, ...others]
  const families = [...new Set(schemes.map(({ kind }) => namespaceOf(kind.network)))].sort().join(', ')
  throw new AppError('INVALID_REQUEST', `wallet: must be an address of one of these families: ${families}`)
}

/** The key is one of the credit store. */
export const readWalletKey = (key: string): Pick<Wallet, 'namespace' | 'address'> => {
  const end = key.indexOf(':')
  return { namespace: key.slice(0, end), address: key.slice(end + 1) }
}
