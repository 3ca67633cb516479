import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Client } from 'undici'
import { withinDeadline } from '../deadline.js'
import type { WebhookAnswer, WebhookMessage, WebhookTransport } from '../ports/webhookTransport.js'
import { isPublicAddress } from './publicAddress.js'
import { type ResolveHost, resolvePublicHost } from './resolvePublicHost.js'

/** What differs where receivers stand on this machine: in tests, and nowhere else. */
export interface GuardedFetchDependencies {
  readonly deadlineMs?: number
  readonly resolveHost?: ResolveHost
  /** Which addresses may be connected to; those of the internet unless told. */
  readonly isAllowed?: (address: string) => boolean
  /** Which ports may be connected to; 443 and 8443 unless told. */
  readonly allowsPort?: (port: number) => boolean
  /** Certificates to trust in place of the well-known ones. */
  readonly ca?: string
}

const defaultDeadlineMs = 10_000
const maxAnswerBytes = 65_536
const maxHeaderBytes = 16_384
const ports = [443, 8_443]

const notPublic = 'The host has no public address'

/** An address that must not be connected to. */
class AddressRefusedError extends Error {}

/** Time that was up. */
class DeadlineError extends Error {}

/**
 * Posts over HTTPS to hosts that strangers named. Every address that a name has is judged inside the look-up that
 * the connection itself uses, so that no second answer of a name server can slip in between. Redirects are not
 * followed, each request has a connection of its own, and one deadline ends it all.
 */
export const createGuardedFetch = (dependencies: GuardedFetchDependencies = {}): WebhookTransport => {
  const { deadlineMs = defaultDeadlineMs, resolveHost = resolvePublicHost, ca } = dependencies
  const { isAllowed = isPublicAddress, allowsPort = (port) => ports.includes(port) } = dependencies

  const findUrlProblem = (text: string): string | null => {
    if (!URL.canParse(text)) return 'must be a URL'
    const url = new URL(text)
    if (url.protocol !== 'https:') return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not hold a user or a password'
    if (!allowsPort(portOf(url))) return `must have port ${ports.join(' or ')}`
    const host = hostOf(url)
    // The parser has written every spelling of an address (decimal, octal, hex, full-width) in its usual form.
    if (isIP(host) !== 0 && !isAllowed(host)) return 'must not name a private or reserved address'
    return null
  }

  const lookUp = (signal: AbortSignal): LookupFunction => {
    return (hostname, options, callback) => {
      resolveHost(hostname, signal).then(
        (addresses) => {
          const [first] = addresses
          // One that is refused refuses them all: who mixes them wants to be asked at that one.
          if (first === undefined || !addresses.every(isAllowed)) callback(new AddressRefusedError(), '', 0)
          else if (options.all === true) callback(null, addresses.map(toEntry))
          else callback(null, first, isIP(first))
        },
        () => callback(new AddressRefusedError(), '', 0),
      )
    }
  }

  const exchange = async (url: URL, message: WebhookMessage, signal: AbortSignal): Promise<number> => {
    const connect = buildConnector({
      lookup: lookUp(signal),
      timeout: deadlineMs,
      ...(ca === undefined ? {} : { ca }),
    })
    const client = new Client(url.origin, {
      // A literal address is connected to without any look-up.
      connect: (options, callback) => {
        const host = options.hostname.replaceAll(/^\[|\]$/g, '')
        if (isIP(host) !== 0 && !isAllowed(host)) callback(new AddressRefusedError(), null)
        else connect(options, callback)
      },
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    try {
      const { statusCode, body } = await client.request({
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { ...message.headers, connection: 'close' },
        body: message.body,
        signal,
      })
      await readAway(body)
      return statusCode
    } finally {
      // Also ends a connection that is only half made; nothing waits for it.
      client.destroy().catch(() => undefined)
    }
  }

  return {
    findUrlProblem,
    post: async (message, stopped): Promise<WebhookAnswer> => {
      const flaw = findUrlProblem(message.url)
      if (flaw !== null) return { status: null, error: `The URL ${flaw}` }
      try {
        const status = await withinDeadline({ milliseconds: deadlineMs, stopped }, async (signal) => {
          try {
            return await exchange(new URL(message.url), message, signal)
          } catch (error) {
            throw signal.aborted ? new DeadlineError() : error
          }
        })
        return { status, error: null }
      } catch (error) {
        if (stopped.aborted) throw stopped.reason
        return { status: null, error: describe(error, deadlineMs) }
      }
    },
  }
}

const portOf = (url: URL): number => (url.port === '' ? 443 : Number(url.port))

const hostOf = (url: URL): string => url.hostname.replaceAll(/^\[|\]$/g, '')

const toEntry = (address: string) => ({ address, family: isIP(address) })

/** The answer is its status: of a body only so much is read as lets a polite receiver finish. */
const readAway = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
  let read = 0
  try {
    for await (const chunk of body) {
      read += chunk.length
      if (read >= maxAnswerBytes) return
    }
  } catch {
    // It has answered; how it goes on is its own affair.
  }
}

/** A library's words may hold addresses of our own network; its codes tell an owner enough. */
const describe = (error: unknown, deadlineMs: number): string => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefusedError) return notPublic
    if (cause instanceof DeadlineError) return `No answer within ${deadlineMs / 1_000} s`
    if ('code' in cause && typeof cause.code === 'string') return `No answer: ${cause.code}`
  }
  return 'No answer'
}
