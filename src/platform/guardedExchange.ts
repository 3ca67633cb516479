import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector, Client } from 'undici'
import { withinDeadline } from '../concurrency/deadline.js'
import type { WebhookTransport } from '../ports/webhookOutbox.js'
import { createAddressBlocks } from './addressBlocks.js'

/** Rejects, or resolves to an empty list, if the host has no address. */
type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

interface GuardedRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Null: no body. */
  readonly body: string | null
}

/** `error`: why there was no response, in words that the owner of the URL may read. */
type GuardedResponse =
  | {
      readonly status: number
      /** The first value of each, by name in lower case. */
      readonly headers: ReadonlyMap<string, string>
      /** Null: longer than the limit, or it did not end in time. */
      readonly body: string | null
      readonly error: null
    }
  | { readonly status: null; readonly error: string }

interface GuardedExchange {
  /** Why the URL can never be used, as the end of a sentence; null if its host may be contacted. */
  findUrlProblem(url: string): string | null
  /** Failures of the receiver are returned; throws only the abort reason of `stopped`. */
  request(request: GuardedRequest, stopped: AbortSignal): Promise<GuardedResponse>
}

export interface GuardedExchangeDependencies {
  /** In messages: what connects, in the plural. */
  readonly purpose: string
  readonly maxHeaderBytes?: number
  readonly deadlineMs?: number
  readonly resolveHost?: ResolveHost
  /** Blocks that may be reached although they are not public, also over HTTP and on any port; default none. */
  readonly allow?: readonly string[]
  /** Defaults to public addresses. */
  readonly isAllowed?: (address: string) => boolean
  /** Defaults to 443 and 8443. */
  readonly allowsPort?: (port: number) => boolean
  /** Replaces the well-known certificate authorities. */
  readonly ca?: string
}

const defaultDeadlineMs = 10_000
const maxAnswerBytes = 65_536
const defaultMaxHeaderBytes = 16_384
const ports = [443, 8_443]

// RFC 6761, section 6.3: always the loopback address.
const localName = /(?:^|\.)localhost\.?$/i

const notPublic = 'The host has no public address'

class AddressRefusedError extends Error {}

class DeadlineError extends Error {}

/**
 * Reaches URLs of users (SSRF protection): over HTTPS public addresses, and over either protocol the blocks of
 * `allow`. Addresses are checked inside the DNS lookup of the connection, so rebinding has no effect. No redirects, no
 * connection reuse, one deadline for the whole exchange.
 */
export const createGuardedExchange = (dependencies: GuardedExchangeDependencies): GuardedExchange => {
  const { deadlineMs = defaultDeadlineMs, resolveHost = resolvePublicHost, ca } = dependencies
  const { purpose, maxHeaderBytes = defaultMaxHeaderBytes } = dependencies
  const { isAllowed = isPublicAddress, allowsPort = (port) => ports.includes(port) } = dependencies
  const { allow = [] } = dependencies
  const blocks = createAddressBlocks()
  const refusal = allow.length === 0 ? notPublic : `The host has an address that ${purpose} may not reach`

  const isListed = (address: string): boolean =>
    allow.length > 0 && blocks.include(allow, address) && !blocks.include(metadataAddresses, address)

  /** Decided per URL: HTTP and other ports only reach listed addresses. */
  const mayReach =
    (url: URL) =>
    (address: string): boolean =>
      isListed(address) || (url.protocol === 'https:' && allowsPort(portOf(url)) && isAllowed(address))

  const findUrlProblem = (text: string): string | null => {
    if (!URL.canParse(text)) return 'must be a URL'
    const url = new URL(text)
    const isHttp = url.protocol === 'http:' && allow.length > 0
    if (url.protocol !== 'https:' && !isHttp) return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not contain a user or password'
    if (allow.length === 0 && !allowsPort(portOf(url))) return `must have port ${ports.join(' or ')}`
    const host = hostOf(url)
    // `URL` has already normalized every spelling of an IP address (decimal, octal, hex, full-width).
    if (isIP(host) === 0 || mayReach(url)(host)) return null
    if (!isAllowed(host)) return 'must not point to a private or reserved address'
    return isHttp ? 'must begin with https://' : `must have port ${ports.join(' or ')}`
  }

  const findAddresses = async (
    hostname: string,
    isTarget: (address: string) => boolean,
    signal: AbortSignal,
  ) => (localName.test(hostname) ? loopback.filter(isTarget) : await resolveHost(hostname, signal))

  const lookUp = (isTarget: (address: string) => boolean, signal: AbortSignal): LookupFunction => {
    return (hostname, options, callback) => {
      findAddresses(hostname, isTarget, signal).then(
        (addresses) => {
          const [first] = addresses
          // One refused address refuses the host: mixing public and private addresses is an attack.
          if (first === undefined || !addresses.every(isTarget)) callback(new AddressRefusedError(), '', 0)
          else if (options.all === true) callback(null, addresses.map(toLookupAddress))
          else callback(null, first, isIP(first))
        },
        () => callback(new AddressRefusedError(), '', 0),
      )
    }
  }

  const exchange = async (url: URL, { method, headers, body }: GuardedRequest, signal: AbortSignal) => {
    const connect = buildConnector({
      lookup: lookUp(mayReach(url), signal),
      timeout: deadlineMs,
      ...(ca === undefined ? {} : { ca }),
    })
    const client = new Client(url.origin, {
      // IP literals are connected to without a DNS lookup.
      connect: (options, callback) => {
        const host = options.hostname.replaceAll(/^\[|\]$/g, '')
        if (isIP(host) !== 0 && !mayReach(url)(host)) callback(new AddressRefusedError(), null)
        else connect(options, callback)
      },
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    try {
      const response = await client.request({
        path: `${url.pathname}${url.search}`,
        method,
        headers: { ...headers, connection: 'close' },
        body,
        signal,
      })
      return {
        status: response.statusCode,
        headers: readHeaders(response.headers),
        body: await readBody(response.body),
        error: null,
      }
    } finally {
      // Also aborts a connection that is still being established.
      client.destroy().catch(() => undefined)
    }
  }

  const findNameProblem = (text: string): string | null =>
    localName.test(hostOf(new URL(text))) && !loopback.some(mayReach(new URL(text)))
      ? 'must not point to this machine'
      : null

  return {
    findUrlProblem: (text) => findUrlProblem(text) ?? findNameProblem(text),
    request: async (request, stopped) => {
      const problem = findUrlProblem(request.url)
      if (problem !== null) return { status: null, error: `The URL ${problem}` }
      try {
        return await withinDeadline({ milliseconds: deadlineMs, stopped }, async (signal) => {
          try {
            return await exchange(new URL(request.url), request, signal)
          } catch (error) {
            throw signal.aborted ? new DeadlineError() : error
          }
        })
      } catch (error) {
        if (stopped.aborted) throw stopped.reason
        return { status: null, error: describe(error, deadlineMs, refusal) }
      }
    },
  }
}

const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)

const hostOf = (url: URL): string => url.hostname.replaceAll(/^\[|\]$/g, '')

const toLookupAddress = (address: string) => ({ address, family: isIP(address) })

const readHeaders = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = typeof value === 'string' ? value : value?.[0]
      return first === undefined ? [] : [[name.toLowerCase(), first] as const]
    }),
  )

/** Reads a bounded part of the body so that a well-behaved receiver can finish. */
const readBody = async (body: AsyncIterable<Uint8Array>): Promise<string | null> => {
  const chunks: Uint8Array[] = []
  let read = 0
  try {
    for await (const chunk of body) {
      read += chunk.length
      if (read > maxAnswerBytes) return null
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    // The status has been received; errors in the body do not matter.
    return null
  }
}

/** Returns error codes only: messages of libraries may contain internal addresses. */
const describe = (error: unknown, deadlineMs: number, refusal: string): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefusedError) return refusal
    if (cause instanceof DeadlineError) return `No answer within ${deadlineMs / 1_000} s`
    if ('code' in cause && typeof cause.code === 'string') return `No answer: ${cause.code}`
  }
  return 'No answer'
}

/** Not `dns.lookup`: it blocks one of libuv's four threads per slow name server, and resolves /etc/hosts. */
const resolvePublicHost: ResolveHost = async (hostname, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

const loopback = ['127.0.0.1', '::1']

// Credentials of the machine itself, in every large cloud; refused also inside a listed block.
const metadataAddresses = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16']

export type GuardedFetchDependencies = Omit<GuardedExchangeDependencies, 'purpose'>

/** Posts to URLs of users; see `createGuardedExchange`. */
export const createGuardedFetch = (dependencies: GuardedFetchDependencies = {}): WebhookTransport => {
  const { findUrlProblem, request } = createGuardedExchange({ ...dependencies, purpose: 'webhooks' })
  return {
    findUrlProblem,
    post: async (message, stopped) => {
      const response = await request({ ...message, method: 'POST' }, stopped)
      return response.status === null ? response : { status: response.status, error: null }
    },
  }
}

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
