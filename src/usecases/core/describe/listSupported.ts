import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { ReadinessCheck } from '../../../ports/job.js'
import { canonicalNetwork, listNetworkAliases } from '../../../protocol/network.js'
import { laterSchemes } from '../../../protocol/readPayment.js'
import type { Readiness, Supported } from '../../../protocol/results.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { KindTerms, Scheme } from '../../../schemes/scheme.js'
import { cacheFor } from '../../cacheFor.js'
import type { CoreUseCases } from '../useCases.js'
import { readTerms } from './completeRequirements.js'

/**
 * Omits networks that cannot settle at the moment, and paused kinds. x402 servers look kinds up by the literal network
 * name, so every accepted name has one.
 */
export const createListSupported =
  (
    registry: SchemeRegistry,
    isServing: (network: string, scheme: string) => boolean,
    extensions: readonly string[] = [],
  ) =>
  (): Supported => {
    // A kind has the same terms under every name.
    const listed = registry.list().flatMap((scheme): readonly Listed[] => {
      const { kind, network } = scheme
      const terms = isServing(kind.network, kind.scheme) ? scheme.describeKind() : null
      return terms === null ? [] : [{ kind, network, terms, minimums: network.listMinimums() }]
    })
    return {
      kinds: [
        ...listed.map((each) => entry(2, each)),
        ...listed.flatMap((each) => aliasEntries(each, 2)),
        ...listed.flatMap((each) => (laterSchemes.has(each.kind.scheme) ? [] : aliasEntries(each, 1))),
      ],
      extensions: [...new Set([...extensions, ...listed.flatMap(({ terms }) => terms.extensions)])].sort(),
      signers: collectSigners(listed),
    }
  }

interface Listed extends Pick<Scheme, 'kind' | 'network'> {
  readonly terms: KindTerms
  readonly minimums: Readonly<Record<string, string>>
}

const entry = (
  version: 1 | 2,
  { kind: { scheme, network }, terms: { extra }, minimums }: Omit<Listed, 'network'>,
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

const aliasEntries = (listed: Listed, version: 1 | 2) =>
  listNetworkAliases(listed.kind.network)
    .filter((alias) => alias.version === version)
    .map(({ name }) => entry(version, { ...listed, kind: { ...listed.kind, network: name } }))

/** The keys are the namespaces of all CAIP-2 forms: `tvm:*` beside `ton:*`. */
const collectSigners = (listed: readonly Listed[]): Record<string, string[]> => {
  const signers: Record<string, string[]> = {}
  for (const { network } of listed) {
    const aliases = listNetworkAliases(network.id).filter(({ version }) => version === 2)
    for (const family of new Set([network.id, ...aliases.map(({ name }) => name)].map(toFamily))) {
      signers[family] = [...new Set([...(signers[family] ?? []), ...network.signers])]
    }
  }
  return signers
}

const toFamily = (network: string): string => `${network.split(':')[0]}:*`

export const createListNetworks =
  (registry: SchemeRegistry): CoreUseCases['listNetworks'] =>
  () => {
    const networks = new Map(registry.list().map(({ network }) => [network.id, network]))
    return [...networks.values()].map((network) => ({
      network: network.id,
      isTestnet: network.isTestnet,
      tokens: network.listTokens().map(({ asset, symbol, decimals }) => ({ asset, symbol, decimals })),
    }))
  }

const maxAgeMs = 1_000

/** At most once a second for all callers: /ready has no limits. */
export const createCheckReadiness = (
  checks: readonly ReadinessCheck[],
  clock: Clock,
): (() => Promise<Readiness>) => cacheFor(clock, maxAgeMs, () => runChecks(checks))

/** Concurrently; a failed check is reported as `unreachable`. */
const runChecks = async (checks: readonly ReadinessCheck[]): Promise<Readiness> => {
  const results = await Promise.all(
    checks.map(async (check) => {
      const result = await check.probe().catch(() => 'unreachable')
      return { check, result }
    }),
  )
  const isReady = results.every(({ check, result }) => check.accepts.includes(result))
  return {
    status: isReady ? 'ready' : 'unready',
    checks: Object.fromEntries(results.map(({ check, result }) => [check.name, result])),
  }
}

export const createFindRouter =
  (registry: SchemeRegistry): CoreUseCases['findRouter'] =>
  async ({ network, payTo }) => {
    const canonical = canonicalNetwork(network)
    const scheme = registry.list().find((each) => each.network.id === canonical)
    const routers = scheme?.network.routers ?? null
    if (scheme === undefined || routers === null) {
      throw new AppError('NOT_FOUND', 'network: this instance has no router there; see /supported for upto')
    }
    if (!scheme.network.isAddress(payTo)) {
      throw new AppError('INVALID_REQUEST', 'payTo: must be an address of the network')
    }
    const router = await readTerms(scheme, () => routers.find(payTo))
    if (router === null) throw new AppError('NOT_FOUND', 'payTo: this instance has no router for it')
    return {
      network,
      payTo,
      routerAddress: router.address,
      isDeployed: router.isDeployed,
      ...(router.shared === null ? {} : { sharedRouterAddress: router.shared }),
    }
  }
