import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { createAddressBlocks } from '../../platform/addressBlocks.js'

/** How many times the cap of a /64 network its IPv6 /48 has: ten such networks are no tenfold share. */
export const siteFactor = 2

export interface ClientAddresses {
  isTrusted(peer: string | undefined): boolean
  /**
   * Removes the ports that some proxies, such as the Azure Application Gateway, append to the entries of `X-Forwarded-For`.
   * The header itself is changed, so that Fastify finds the address as well: an entry with a port is an address to neither.
   */
  removePorts(request: IncomingMessage): void
  /** What Fastify computes as `request.ip`, before Fastify sees the request. */
  read(request: IncomingMessage): string | undefined
}

const maxCached = 10_000
// The longest IPv6 text has 45 characters; a header can have any length.
const maxCachedLength = 64

/** The client is the first of the peer and the `X-Forwarded-For` entries, from the last, that is no trusted proxy. */
export const createClientAddresses = (trustProxy: readonly string[]): ClientAddresses => {
  const blocks = createAddressBlocks()
  const known = new Map<string, boolean>()

  const isTrusted = (address: string | undefined): boolean => {
    if (trustProxy.length === 0 || address === undefined) return false
    const cached = known.get(address)
    if (cached !== undefined) return cached
    const isListed = blocks.include(trustProxy, address)
    if (address.length > maxCachedLength) return isListed
    if (known.size >= maxCached) known.clear()
    known.set(address, isListed)
    return isListed
  }

  return {
    isTrusted,
    removePorts: ({ socket, headers }) => {
      const forwarded = headers['x-forwarded-for']
      if (forwarded === undefined || !isTrusted(socket.remoteAddress)) return
      const text = String(forwarded)
      if (text.includes(':')) headers['x-forwarded-for'] = text.split(',').map(removePort).join(',')
    },
    read: ({ socket, headers }) => {
      const peer = socket.remoteAddress
      const forwarded = isTrusted(peer) ? headers['x-forwarded-for'] : undefined
      if (forwarded === undefined) return peer
      let address = peer
      for (const entry of String(forwarded).split(',').reverse()) {
        const hop = entry.trim()
        if (hop === '') continue
        address = hop
        if (!isTrusted(address)) return address
      }
      return address
    },
  }
}

const withPort = /^\s*(?:(?<v4>[0-9.]+):\d{1,5}|\[(?<v6>[0-9a-fA-F:.]+)\](?::\d{1,5})?)\s*$/

/** An IPv6 address without brackets has no port: it could not be told from its last group. */
const removePort = (entry: string): string => {
  const { v4 = '', v6 = '' } = withPort.exec(entry)?.groups ?? {}
  if (isIPv4(v4)) return v4
  return isIPv6(v6) ? v6 : entry
}
