import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import type { Secret } from '../../platform/secret.js'
import type { KeyViewer } from '../../usecases/dashboard/useCases.js'

export interface OperatorGate {
  readonly isOperator: (request: FastifyRequest) => boolean
  /** Throws FORBIDDEN if no operator token is configured, UNAUTHORIZED if the request does not carry it. */
  readonly requireOperator: (request: FastifyRequest) => void
}

export const createOperatorGate = (token: Secret | null): OperatorGate => {
  if (token === null) {
    return {
      isOperator: () => false,
      requireOperator: () => {
        throw new AppError('FORBIDDEN', 'Operators only: OPERATOR_TOKEN is not set on this instance')
      },
    }
  }
  const isOperator = createTokenCheck(token)
  return {
    isOperator,
    requireOperator: (request) => {
      if (isOperator(request)) return
      throw new AppError('UNAUTHORIZED', 'Operators only: send OPERATOR_TOKEN as Authorization: Bearer')
    },
  }
}

/** Whether a request carries the token as `Authorization: Bearer`. */
export const createTokenCheck = (token: Secret): ((request: FastifyRequest) => boolean) => {
  const expected = digest(token.reveal())
  return ({ headers }) => {
    const [, presented] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
    // Hashed first: timingSafeEqual needs equal lengths, and digests leak no prefix.
    return presented !== undefined && timingSafeEqual(digest(presented), expected)
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export type ReadKeyViewer = (request: FastifyRequest) => KeyViewer

interface KeyViewerDependencies {
  readonly trustProxy: readonly string[]
  readonly isOperator: OperatorGate['isOperator']
}

export const createReadKeyViewer = ({ trustProxy, isOperator }: KeyViewerDependencies): ReadKeyViewer => {
  const isLocalCaller = createIsLocalCaller(trustProxy)
  return (request) => (isOperator(request) || isLocalCaller(request) ? 'trusted' : 'stranger')
}

const loopbackBlocks = ['127.0.0.0/8', '::1']
const loopbackAddresses = ['127.0.0.1', '::1']
// Other names can be DNS rebinding: a web page's domain resolved to this machine.
const loopbackHost = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i

/** The list allows: one that denies all headers that proxies and browsers add would never be complete. */
const plainHeaders = new Set([
  ...['host', 'user-agent', 'accept', 'accept-encoding', 'accept-language', 'authorization', 'x-api-key'],
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['cache-control', 'pragma'],
  // Node's fetch sends it alone; browsers also send Sec-Fetch-Site.
  'sec-fetch-mode',
])

/**
 * Recognizes requests that a program on this machine sent directly. A local forwarder that leaves no trace (TCP, or a proxy
 * that adds no header and rewrites Host) is not detected. Never true if TRUST_PROXY covers loopback.
 */
const createIsLocalCaller = (
  trustProxy: readonly string[],
): ((request: Pick<FastifyRequest, 'raw'>) => boolean) => {
  const blocks = createAddressBlocks()
  const coversLoopback = (entry: string): boolean => {
    const block = blocks.normalize(entry)
    // An unreadable block may cover anything.
    if (block === null) return true
    const [network = ''] = block.split('/')
    return (
      blocks.include(loopbackBlocks, network) ||
      loopbackAddresses.some((address) => blocks.include([block], address))
    )
  }
  if (trustProxy.some(coversLoopback)) return () => false
  return ({ raw: { socket, httpVersion, headers } }) =>
    blocks.include(loopbackBlocks, socket.remoteAddress ?? '') &&
    // nginx uses HTTP/1.0 upstream unless configured otherwise.
    httpVersion === '1.1' &&
    loopbackHost.test(headers.host ?? '') &&
    Object.keys(headers).every((name) => plainHeaders.has(name))
}
