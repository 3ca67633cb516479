import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** How many times the limit of a /64 network its /48 has, which contains 65,536 of them. */
export const siteFactor = 8

const networkBits = 64
const siteBits = 48
const regionBits = 32
const unknownClient = 'unknown'
const maxCached = 10_000
// The longest IPv6 text has 45 characters, but a zone id can have any length.
const maxCachedLength = 64
// Parsing an IPv6 address dominates the cost of rate limiting, and clients repeat.
const cache = new Map<string, ClientNetworks>()

interface ClientNetworks {
  /** An IPv4 address, or an IPv6 /64 network (the usual allocation per customer). */
  readonly network: string
  /** The IPv6 /48 network around it (the largest usual allocation per customer); null for IPv4. */
  readonly site: string | null
  /** The IPv4 /24 or IPv6 /32 network around it: what one owner with many addresses has of them. */
  readonly region: string
}

const unknownNetworks: ClientNetworks = { network: unknownClient, site: null, region: unknownClient }

/** The subjects of per-address limits. Unparsable addresses share one. */
export const readClientNetworks = (address: string | undefined): ClientNetworks => {
  if (address === undefined) return unknownNetworks
  const known = cache.get(address)
  if (known !== undefined) return known
  if (isIPv4(address)) return cacheNetworks(address, readIPv4(address))
  return isIPv6(address) ? cacheNetworks(address, readIPv6(address)) : unknownNetworks
}

export const readClientNetwork = (address: string | undefined): string => readClientNetworks(address).network

/** The largest usual allocation of one customer: an IPv4 address, or an IPv6 /48. */
export const readClientSite = (address: string | undefined): string => {
  const { network, site } = readClientNetworks(address)
  return site ?? network
}

const readIPv4 = (address: string): ClientNetworks => ({
  network: address,
  site: null,
  region: `${address.slice(0, address.lastIndexOf('.'))}.0/24`,
})

const readIPv6 = (address: string): ClientNetworks => {
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return readIPv4(parsed.toIPv4Address().toString())
  return {
    network: writeNetwork(parsed, networkBits),
    site: writeNetwork(parsed, siteBits),
    region: writeNetwork(parsed, regionBits),
  }
}

const writeNetwork = ({ parts }: ipaddr.IPv6, bits: number): string => {
  const groups = parts.slice(0, bits / 16)
  return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`
}

const cacheNetworks = (address: string, networks: ClientNetworks): ClientNetworks => {
  if (address.length > maxCachedLength) return networks
  if (cache.size >= maxCached) cache.clear()
  cache.set(address, networks)
  return networks
}
