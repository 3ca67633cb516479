import ipaddr from 'ipaddr.js'

// Public by its range, and yet a cloud's own: Azure answers virtual machines there.
const cloudAddresses = ['168.63.129.16']

// Of IPv6 only 2000::/3 is given out. Everything that wraps an IPv4 address elsewhere (`::/96`, v4-mapped, NAT64) and
// whatever may be reserved for it one day lies outside.
const reservedRanges = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address is one that anybody on the internet may be asked at: not private, loopback, link-local,
 * shared, multicast or reserved, and no other address in disguise (6to4, Teredo, NAT64, v4-mapped).
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv6) return parsed.match(reservedRanges)
  // The library reads `127.1` and `0x7f.1` as well; what a resolver or a URL gives has four decimal parts.
  return ipaddr.IPv4.isValidFourPartDecimal(address) && !cloudAddresses.includes(parsed.toString())
}
