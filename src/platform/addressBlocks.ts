import ipaddr from 'ipaddr.js'
import type { AddressBlocks } from '../ports/accountStore.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

interface Block {
  readonly network: Address
  readonly prefix: number
}

const mappedBits = 96

/** Accepts dotted-quad IPv4 and IPv6 only, not the other spellings that ipaddr.js parses. */
export const createAddressBlocks = (): AddressBlocks => {
  // Keyed by array identity: a cached account keeps the same list object between requests.
  const parsed = new WeakMap<readonly string[], readonly Block[]>()
  const parseCached = (blocks: readonly string[]): readonly Block[] => {
    const known = parsed.get(blocks)
    if (known !== undefined) return known
    const all = blocks.map(parseBlock).filter((block) => block !== null)
    parsed.set(blocks, all)
    return all
  }
  return {
    normalize: (text) => {
      const block = parseBlock(text)
      return block === null ? null : writeBlock(block)
    },
    include: (blocks, text) => {
      const address = parseAddress(text)
      return address !== null && parseCached(blocks).some((block) => contains(block, unmap(address)))
    },
  }
}

/** Rejects octal, hexadecimal and short IPv4 forms, and zone ids, which are local to one machine. */
const parseAddress = (text: string): Address | null => {
  if (text.includes('%')) return null
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}

const isMapped = (address: Address): address is ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()

const unmap = (address: Address): Address => (isMapped(address) ? address.toIPv4Address() : address)

const bitsOf = (address: Address): number => address.toByteArray().length * 8

const parseBlock = (text: string): Block | null => {
  const { addressText, prefixText } =
    /^(?<addressText>[^/]+)(?:\/(?<prefixText>0|[1-9][0-9]{0,2}))?$/.exec(text)?.groups ?? {}
  const address = addressText === undefined ? null : parseAddress(addressText)
  if (address === null) return null
  const bits = bitsOf(address)
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  if (prefix > bits) return null
  if (!isMapped(address)) return { network: clearHostBits(address, prefix), prefix }
  // A wider block would include addresses that are not IPv4-mapped.
  if (prefix < mappedBits) return null
  const v4 = prefix - mappedBits
  return { network: clearHostBits(address.toIPv4Address(), v4), prefix: v4 }
}

const clearHostBits = (address: Address, prefix: number): Address =>
  ipaddr.fromByteArray(
    address.toByteArray().map((byte, index) => {
      const kept = Math.min(8, Math.max(0, prefix - index * 8))
      return byte & (0xff << (8 - kept)) & 0xff
    }),
  )

const writeBlock = ({ network, prefix }: Block): string => {
  const text = network.toString()
  return prefix === bitsOf(network) ? text : `${text}/${prefix}`
}

const contains = ({ network, prefix }: Block, address: Address): boolean =>
  network.kind() === address.kind() && address.match([network, prefix])
