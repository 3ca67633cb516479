import type { Scheme } from './scheme.js'

/** Exact match on (scheme, network); no patterns. */
export interface SchemeRegistry {
  find(scheme: string, network: string): Scheme | null
  hasScheme(scheme: string): boolean
  /** Whether the network has any scheme. */
  hasNetwork(network: string): boolean
  list(): readonly Scheme[]
}

export const createSchemeRegistry = (schemes: readonly Scheme[]): SchemeRegistry => {
  const byKind = new Map<string, Scheme>()
  for (const scheme of schemes) {
    const key = keyOf(scheme.kind.scheme, scheme.kind.network)
    if (byKind.has(key)) throw new Error(`Two schemes are registered for ${key}`)
    byKind.set(key, scheme)
  }
  const names = new Set(schemes.map(({ kind }) => kind.scheme))
  const networks = new Set(schemes.map(({ kind }) => kind.network))
  return {
    find: (scheme, network) => byKind.get(keyOf(scheme, network)) ?? null,
    hasScheme: (scheme) => names.has(scheme),
    hasNetwork: (network) => networks.has(network),
    list: () => [...byKind.values()],
  }
}

const keyOf = (scheme: string, network: string): string => `${scheme} on ${network}`
