import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

const networkBits = 64
const unknownClient = 'unknown'
const maxCached = 10_000
// The longest IPv6 text has 45 characters, but a zone id can have any length.
const maxCachedLength = 64
// Parsing an IPv6 address dominates the cost of rate limiting, and clients repeat.
const cache = new Map<string, string>()

/**
 * The subject of per-address limits: IPv4 addresses, IPv6 /64 networks (the usual allocation per customer).
 * Unparsable addresses share one subject.
 */
export const readClientNetwork = (address: string | undefined): string => {
  if (address === undefined) return unknownClient
  const known = cache.get(address)
  if (known !== undefined) return known
  if (isIPv4(address)) return cacheNetwork(address, address)
  return isIPv6(address) ? cacheNetwork(address, readIPv6(address)) : unknownClient
}

const readIPv6 = (address: string): string => {
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  const groups = parsed.parts.slice(0, networkBits / 16)
  return `${groups.map((group) => group.toString(16)).join(':')}::/${networkBits}`
}

const cacheNetwork = (address: string, network: string): string => {
  if (address.length > maxCachedLength) return network
  if (cache.size >= maxCached) cache.clear()
  cache.set(address, network)
  return network
}
