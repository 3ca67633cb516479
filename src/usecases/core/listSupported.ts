import { findLegacyNetworkName } from '../../protocol/network.js'
import type { Supported } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Kind, Scheme } from '../../schemes/scheme.js'

/** Omits networks that cannot settle at the moment. */
export const createListSupported =
  (registry: SchemeRegistry, isServing: (network: string) => boolean) => (): Supported => {
    const schemes = registry.list().filter(({ kind }) => isServing(kind.network))
    return {
      kinds: [...schemes.map(({ kind }) => entry(2, kind)), ...schemes.flatMap(legacyEntries)],
      extensions: [],
      signers: collectSigners(schemes),
    }
  }

const entry = (version: 1 | 2, { scheme, network, extra }: Kind): Supported['kinds'][number] => ({
  payVersion: version,
  x402Version: version,
  t402Version: version,
  scheme,
  network,
  ...(extra === undefined ? {} : { extra }),
})

const legacyEntries = ({ kind }: Scheme) => {
  const network = findLegacyNetworkName(kind.network)
  return network === null ? [] : [entry(1, { ...kind, network })]
}

const collectSigners = (schemes: readonly Scheme[]): Record<string, string[]> => {
  const signers: Record<string, string[]> = {}
  for (const scheme of schemes) {
    const family = `${scheme.kind.network.split(':')[0]}:*`
    signers[family] = [...new Set([...(signers[family] ?? []), ...scheme.signers])]
  }
  return signers
}
