import { listNetworkAliases } from '../../protocol/network.js'
import type { Supported } from '../../protocol/results.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Kind, Scheme } from '../../schemes/scheme.js'

/**
 * Omits networks that cannot settle at the moment. x402 servers look kinds up by the literal network name, so every
 * accepted name has one.
 */
export const createListSupported =
  (registry: SchemeRegistry, isServing: (network: string) => boolean, extensions: readonly string[] = []) =>
  (): Supported => {
    const schemes = registry
      .list()
      .filter(({ kind, isOffered }) => isServing(kind.network) && isOffered?.() !== false)
    // The same under every name.
    const listed = schemes.map(({ kind, listMinimums }) => ({ kind, minimums: listMinimums?.() ?? {} }))
    return {
      kinds: [
        ...listed.map(({ kind, minimums }) => entry(2, kind, minimums)),
        ...listed.flatMap((each) => aliasEntries(each, 2)),
        // Clients of version 1 have no `upto`.
        ...listed.flatMap((each) => (each.kind.scheme === 'upto' ? [] : aliasEntries(each, 1))),
      ],
      extensions: [...new Set([...extensions, ...schemes.flatMap(({ extensions: own = [] }) => own)])].sort(),
      signers: collectSigners(schemes),
    }
  }

type Minimums = Readonly<Record<string, string>>

interface Listed {
  readonly kind: Kind
  readonly minimums: Minimums
}

const entry = (
  version: 1 | 2,
  { scheme, network, extra }: Kind,
  minimums: Minimums,
): Supported['kinds'][number] => ({
  payVersion: version,
  x402Version: version,
  t402Version: version,
  scheme,
  network,
  ...(extra === undefined ? {} : { extra }),
  // Not in `extra`, which clients copy into what they sign.
  ...(Object.keys(minimums).length === 0 ? {} : { minimumPayments: minimums }),
})

const aliasEntries = ({ kind, minimums }: Listed, version: 1 | 2) =>
  listNetworkAliases(kind.network)
    .filter((alias) => alias.version === version)
    .map(({ name }) => entry(version, { ...kind, network: name }, minimums))

/** By the namespaces of all CAIP-2 forms: `tvm:*` beside `ton:*`. */
const collectSigners = (schemes: readonly Scheme[]): Record<string, string[]> => {
  const signers: Record<string, string[]> = {}
  for (const { kind, signers: own } of schemes) {
    const aliases = listNetworkAliases(kind.network).filter(({ version }) => version === 2)
    for (const family of new Set([kind.network, ...aliases.map(({ name }) => name)].map(toFamily))) {
      signers[family] = [...new Set([...(signers[family] ?? []), ...own])]
    }
  }
  return signers
}

const toFamily = (network: string): string => `${network.split(':')[0]}:*`
