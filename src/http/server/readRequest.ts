import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import { tierRatedEndpoints, unlimitedPaths } from '../../protocol/requestLimits.js'

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

export type RequestLine = Pick<IncomingMessage, 'method' | 'url'>

const originOfAbsoluteForm = /^https?:\/\/[^/]*(?=\/)/i

/** The path by which Fastify finds the route, without the query, decoded. */
export const readPath = ({ url = '' }: RequestLine): string => {
  const end = url.search(/[?#]/)
  const target = end === -1 ? url : url.slice(0, end)
  const path = target.startsWith('/') ? target : target.replace(originOfAbsoluteForm, '')
  return path.includes('%') ? decodePath(path) : path
}

const decodePath = (path: string): string => {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const probes = new Set<string | undefined>(unlimitedPaths)

/** /health, /ready and /metrics: served without limits or keys. */
export const isProbe = ({ routeOptions }: FastifyRequest): boolean => probes.has(routeOptions.url)

/**
 * The same, before Fastify sees the request. A probe has no body: that of an unknown route is read as well, and may be
 * slow.
 */
export const isProbeRequest = (request: RequestLine): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') && probes.has(readPath(request))

export const isMetricsRequest = (request: RequestLine): boolean => readPath(request) === '/metrics'

const endpointsWithParameters = [...tierRatedEndpoints.keys()]
  .filter((endpoint) => endpoint.includes(':'))
  .map((endpoint) => ({ endpoint, form: new RegExp(`^${endpoint.replaceAll(/:\w+/g, '[^/]+')}$`) }))

/** The endpoint whose count against the rate of the tier a request belongs to; `*`: the one that all others share. */
export const findTierEndpoint = (request: RequestLine): string => {
  const line = `${request.method} ${readPath(request)}`
  if (tierRatedEndpoints.has(line)) return line
  return endpointsWithParameters.find(({ form }) => form.test(line))?.endpoint ?? '*'
}
