import ipaddr from 'ipaddr.js'

// Azure's virtual public IP for platform services (WireServer), reachable from virtual machines.
const cloudAddresses = ['168.63.129.16']

// The only range for global unicast; ranges that embed IPv4 (v4-mapped, NAT64) lie outside.
const reservedRanges = ipaddr.IPv6.parseCIDR('2000::/3')

/** Globally routable; excludes special-purpose ranges and embedded IPv4 addresses (6to4, Teredo). */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv6) return parsed.match(reservedRanges)
  // ipaddr.js also parses `127.1` and `0x7f.1`; resolvers and URLs return dotted quads.
  return ipaddr.IPv4.isValidFourPartDecimal(address) && !cloudAddresses.includes(parsed.toString())
}
