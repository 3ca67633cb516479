import type { IncomingMessage } from 'node:http'
import { createAddressBlocks } from '../../platform/addressBlocks.js'

export interface ClientAddresses {
  isTrusted(peer: string | undefined): boolean
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
