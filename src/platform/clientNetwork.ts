import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

const networkBits = 64
const unreadable = 'unknown'
const maxRemembered = 10_000
// The longest IPv6 address with an IPv4 part has 45 characters; a zone may have any number.
const maxRememberedLength = 64
// Reading an IPv6 address takes longer than all other work of the limits, and callers come again.
const remembered = new Map<string, string>()

/**
 * Whom an address is counted as: an IPv4 address as itself, in whatever form it comes, an IPv6 address as its /64,
 * because that is what one customer gets. What is no address is one and the same client.
 */
export const readClientNetwork = (address: string | undefined): string => {
  if (address === undefined) return unreadable
  const known = remembered.get(address)
  if (known !== undefined) return known
  if (isIPv4(address)) return remember(address, address)
  return isIPv6(address) ? remember(address, readIPv6(address)) : unreadable
}

const readIPv6 = (address: string): string => {
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  const groups = parsed.parts.slice(0, networkBits / 16)
  return `${groups.map((group) => group.toString(16)).join(':')}::/${networkBits}`
}

const remember = (address: string, network: string): string => {
  if (address.length > maxRememberedLength) return network
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(address, network)
  return network
}
