import { AppError } from '../../errors.js'
import type { IntentRequest } from '../../protocol/intents.js'
import { canonicalNetwork, namespaceOf } from '../../protocol/network.js'
import type { Scheme } from '../../schemes/scheme.js'

/** One address, or addresses by network or namespace. */
export type Wallets = IntentRequest['payer']

/** `missing`: none of the network. `ambiguous`: the text has the form of addresses of several namespaces. */
type FoundWallet =
  | { readonly state: 'found'; readonly address: string }
  | { readonly state: 'missing' }
  | { readonly state: 'ambiguous' }

export type FindWallet = (scheme: Scheme) => FoundWallet

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
