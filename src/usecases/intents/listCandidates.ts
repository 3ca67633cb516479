import { AppError } from '../../errors.js'
import type { IntentTerms } from '../../ports/intentStore.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import { type RouteProblem, routeProblems, type UnavailableRoute } from '../../protocol/intents.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { Token } from '../../schemes/network.js'
import type { Scheme } from '../../schemes/scheme.js'
import { isSameText } from '../../schemes/spelling.js'
import { createFindWallet, type FindWallet } from './wallets.js'

/** A way to pay of which only the chain can still say that it is none. */
export interface Candidate {
  readonly scheme: Scheme
  readonly asset: string
  /** Null: it has to be asked for. */
  readonly token: Token | null
  /** Place in the network's order of preference. */
  readonly preference: number
  readonly payer: string
  readonly payTo: string
}

interface CandidateList {
  readonly candidates: readonly Candidate[]
  readonly unavailable: readonly UnavailableRoute[]
}

/** Metered payments need a resource server that says what was used. */
const meteredSchemes: readonly string[] = ['upto']

/** Pure. Throws INVALID_REQUEST for an asset or wallets that fit no network. */
export const listCandidates = (
  terms: IntentTerms,
  served: readonly Scheme[],
  isServing: (network: string) => boolean,
): CandidateList => {
  const schemes = served.filter(({ kind }) => !meteredSchemes.includes(kind.scheme))
  const networks = readNetworks(terms)
  const findAssets = createFindAssets(terms.asset, schemes)
  const offered = { schemes, admits: networks.admits }
  const parties: Parties = {
    payer: createFindWallet('payer', terms.payer, offered),
    payee: createFindWallet('payee', terms.payee, offered),
  }
  const isOnlyTestnets = schemes.every(({ network }) => network.isTestnet)

  const candidates: Candidate[] = []
  const unavailable: UnavailableRoute[] = networks.problem === null ? [] : [networks.problem]
  for (const network of networks.named) {
    if (schemes.some(({ kind }) => kind.network === network)) continue
    unavailable.push(describeProblem('network_not_served', { network }))
  }
  for (const scheme of schemes) {
    const { network, scheme: name } = scheme.kind
    if (networks.problem !== null || !networks.admits(network)) continue
    const problem = findProblem(scheme, {
      isAvailable: isServing(network) && scheme.describeKind() !== null,
      isTestMoney: scheme.network.isTestnet && !isOnlyTestnets && !networks.named.includes(network),
      hasAsset: findAssets(scheme).length > 0,
      parties,
    })
    if (typeof problem === 'string') {
      unavailable.push(describeProblem(problem, { network, scheme: name }))
      continue
    }
    const assets = findAssets(scheme)
    candidates.push(...assets.map((each, preference) => ({ scheme, ...each, preference, ...problem })))
  }
  return { candidates, unavailable }
}

interface Parties {
  readonly payer: FindWallet
  readonly payee: FindWallet
}

interface Circumstances {
  readonly isAvailable: boolean
  readonly isTestMoney: boolean
  readonly hasAsset: boolean
  readonly parties: Parties
}

/** The addresses of both parties, or why the network is no route. */
const findProblem = (
  scheme: Scheme,
  { isAvailable, isTestMoney, hasAsset, parties }: Circumstances,
): RouteProblem | { readonly payer: string; readonly payTo: string } => {
  if (isTestMoney) return 'testnet'
  if (!hasAsset) return 'unsupported_asset'
  if (!isAvailable) return 'network_unavailable'
  const payer = parties.payer(scheme)
  const payee = parties.payee(scheme)
  if (payer.state === 'ambiguous' || payee.state === 'ambiguous') return 'ambiguous_address'
  if (payer.state === 'missing') return 'no_payer_address'
  if (payee.state === 'missing') return 'no_payee_address'
  if (isSameText(scheme.network, payer.address, payee.address)) return 'self_payment'
  return { payer: payer.address, payTo: payee.address }
}

export const describeProblem = (
  reason: RouteProblem,
  place: Omit<UnavailableRoute, 'reason' | 'message'>,
  detail?: string,
): UnavailableRoute => ({
  ...place,
  reason,
  message: detail === undefined ? routeProblems[reason] : `${routeProblems[reason]}: ${detail}`,
})

interface Networks {
  /** Canonical names from the request. */
  readonly named: readonly string[]
  readonly problem: UnavailableRoute | null
  admits(network: string): boolean
}

const readNetworks = ({ sourceNetworks, targetNetwork }: IntentTerms): Networks => {
  const sources = sourceNetworks === undefined ? null : new Set(sourceNetworks.map(canonicalNetwork))
  if (targetNetwork === undefined) {
    const named = sources === null ? [] : [...sources]
    return { named, problem: null, admits: (network) => sources === null || sources.has(network) }
  }
  const target = canonicalNetwork(targetNetwork)
  const isReached = sources === null || sources.has(target)
  return {
    named: [target],
    problem: isReached ? null : describeProblem('bridge_needed', { network: target }),
    admits: (network) => network === target,
  }
}

type FindAssets = (scheme: Scheme) => readonly Pick<Candidate, 'asset' | 'token'>[]

/** A text that is a symbol on one network is a symbol on all: it may have the form of an asset on another. */
const createFindAssets = (text: string, schemes: readonly Scheme[]): FindAssets => {
  const isSymbol = schemes.some((scheme) => scheme.network.listTokens().some(({ symbol }) => symbol === text))
  if (isSymbol) {
    return (scheme) =>
      scheme.network
        .listTokens()
        .filter(({ symbol }) => symbol === text)
        .map((token) => ({ asset: token.asset, token }))
  }
  const findAsset: FindAssets = (scheme) => {
    const asset = canonicalAsset(scheme.kind.network, text)
    return scheme.network.isAsset(asset) ? [{ asset, token: null }] : []
  }
  if (schemes.every((scheme) => findAsset(scheme).length === 0)) {
    const symbols = new Set(
      schemes.flatMap((scheme) => scheme.network.listTokens().map(({ symbol }) => symbol)),
    )
    throw new AppError(
      'INVALID_REQUEST',
      `asset: is neither an asset of a network that is served nor one of the symbols ${[...symbols].sort().join(', ')}`,
    )
  }
  return findAsset
}
