import { AppError } from '../../errors.js'
import type { IntentTerms } from '../../ports/intentStore.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import {
  type IntentRequest,
  type RouteProblem,
  routeProblems,
  type UnavailableRoute,
} from '../../protocol/intents.js'
import { canonicalNetwork, namespaceOf } from '../../protocol/network.js'
import type { Token } from '../../schemes/network.js'
import type { Scheme } from '../../schemes/scheme.js'
import { isSameText } from '../../schemes/spelling.js'

/** A way to pay that only the chain can still rule out. */
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

/** Metered payments and holds need a resource server that says what was used. */
const meteredSchemes: readonly string[] = ['upto', 'auth-capture', 'batch-settlement']

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

/** One address, or addresses by network or namespace. */
export type Wallets = IntentRequest['payer']

/** `missing`: none of the network. `ambiguous`: the text has the form of addresses of several namespaces. */
type FoundWallet =
  | { readonly state: 'found'; readonly address: string }
  | { readonly state: 'missing' }
  | { readonly state: 'ambiguous' }

type FindWallet = (scheme: Scheme) => FoundWallet

type Party = 'payer' | 'payee'

interface ServedSchemes {
  readonly schemes: readonly Scheme[]
  /** Whether the intent may be paid on the network. */
  admits(network: string): boolean
}

/**
 * Finds the party's address on each network. Throws INVALID_REQUEST if an address is none of the network that it is
 * named for, or of any network that is served.
 */
export const createFindWallet = (party: Party, wallets: Wallets, served: ServedSchemes): FindWallet =>
  typeof wallets === 'string'
    ? findByForm(party, wallets, served)
    : findByName(party, new Map(Object.entries(wallets)), served.schemes)

// Shorter texts of hex digits alone can be names.
const shortestHex = 32

/**
 * Hex of 20 bytes is EVM's, hex of 32 bytes a full address of other chains. They also read every shorter hex as an address,
 * or as a name: a payment to a mistyped address would be lost there. So is hex without `0x`; TRON's own starts with 41.
 */
const couldBeOf = (namespace: string, address: string): boolean => {
  const [, prefix = '', digits] = /^(0x)?([0-9a-f]*)$/i.exec(address) ?? []
  if (digits === undefined) return !/^0x/i.test(address)
  if (prefix === '' && digits.length < shortestHex) return true
  if (prefix === '' && digits.length === 42) return namespace === 'tron' && digits.startsWith('41')
  return namespace === 'eip155' ? digits.length === 40 : digits.length === 64
}

const isAddressOf = (scheme: Scheme, address: string): boolean =>
  couldBeOf(namespaceOf(scheme.kind.network), address) && scheme.network.isAddress(address)

/** Also without its `0x`: 64 digits are an account of NEAR, and may be the rest of an address of another chain. */
const hasFormOf = (scheme: Scheme, address: string): boolean =>
  isAddressOf(scheme, address) ||
  (/^[0-9a-f]{64}$/i.test(address) && scheme.network.isAddress(`0x${address}`))

const findByForm = (party: Party, address: string, { schemes, admits }: ServedSchemes): FindWallet => {
  const namespaces = new Set(
    schemes
      .filter((scheme) => hasFormOf(scheme, address))
      .map(({ kind }) => kind.network)
      // Networks that the intent leaves out make no text ambiguous.
      .filter(admits)
      .map(namespaceOf),
  )
  if (!schemes.some((scheme) => isAddressOf(scheme, address))) {
    throw new AppError(
      'INVALID_REQUEST',
      `${party}: is an address of no network that is served; see /supported`,
    )
  }
  return (scheme) => {
    const isItsForm = namespaces.has(namespaceOf(scheme.kind.network)) && hasFormOf(scheme, address)
    if (!isItsForm) return { state: 'missing' }
    if (namespaces.size > 1) return { state: 'ambiguous' }
    return isAddressOf(scheme, address) ? { state: 'found', address } : { state: 'missing' }
  }
}

const findByName = (
  party: Party,
  named: ReadonlyMap<string, string>,
  schemes: readonly Scheme[],
): FindWallet => {
  const namespaces = new Set(schemes.map(({ kind }) => namespaceOf(kind.network)))
  const byNetwork = new Map<string, { readonly name: string; readonly address: string }>()
  for (const [name, address] of named) {
    // `solana` and `ton` are also short names of mainnets.
    const network = namespaces.has(name) ? name : canonicalNetwork(name)
    const other = byNetwork.get(network)
    if (other !== undefined) {
      throw new AppError('INVALID_REQUEST', `${party}: ${other.name} and ${name} are one network`)
    }
    byNetwork.set(network, { name, address })
  }
  // The networks of one namespace can have addresses of different forms.
  const isOf = (name: string) => (scheme: Scheme) =>
    scheme.kind.network === name || namespaceOf(scheme.kind.network) === name
  for (const [network, { name, address }] of byNetwork) {
    const named = schemes.filter(isOf(network))
    if (named.length === 0 || named.some((scheme) => isAddressOf(scheme, address))) continue
    throw new AppError('INVALID_REQUEST', `${party}.${name}: must be an address of ${network}`)
  }
  return (scheme) => {
    const { network } = scheme.kind
    const found = byNetwork.get(network) ?? byNetwork.get(namespaceOf(network))
    return found !== undefined && isAddressOf(scheme, found.address)
      ? { state: 'found', address: found.address }
      : { state: 'missing' }
  }
}
