import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, errorStatus } from '../../errors.js'
import { toErrorBody } from '../errors.js'

/** Sends a response that was serialised once, with `Retry-After`, without Fastify. */
export type SendRefusal = (response: ServerResponse, options: { readonly closes: boolean }) => void

const prepareRefusal = (error: AppError): SendRefusal => {
  const body = Buffer.from(JSON.stringify(toErrorBody(error)))
  const status = errorStatus[error.code]
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(error.retryAfterSeconds === null
      ? {}
      : { 'retry-after': String(Math.ceil(error.retryAfterSeconds)) }),
  }
  const closing = { ...headers, connection: 'close' }
  return (response, { closes }) => {
    response.writeHead(status, STATUS_CODES[status], closes ? closing : headers)
    response.end(response.req.method === 'HEAD' ? undefined : body)
  }
}

const prepareTooMany = (message: string): SendRefusal =>
  prepareRefusal(new AppError('RATE_LIMITED', message, { operationalCode: 'SVC-2005', retryAfterSeconds: 1 }))

export const maxRequestsPerConnection = 8

export const sendTooManyOnConnection = prepareTooMany(
  `More than ${maxRequestsPerConnection} requests in progress on one connection`,
)

/** RFC 9112, section 3.2. */
export const sendWithoutHost = prepareRefusal(
  new AppError('INVALID_REQUEST', 'A request of HTTP/1.1 has a Host header'),
)

export const sendTooManyOfAddress = prepareTooMany('Too many requests of this key or address are in progress')

export const sendTooManyRefusals = prepareTooMany('Too many refused requests')

/**
 * Node reads the rest of a packet after a refusal as well, up to 64 kB and a thousand requests, in 20 ms. Its parser stops
 * at a request that changes the protocol, so the next one is taken for such a request.
 */
export const ignoreRest = (request: IncomingMessage): void => {
  const socket: Socket & { parser?: { onIncoming?: () => number } | null } = request.socket
  if (socket.parser?.onIncoming) socket.parser.onIncoming = () => protocolChanges
  // Its body would be kept until its response, in chunks of one byte 200 times its size.
  let bytes = 0
  request.push = (chunk) => {
    bytes += chunk?.length ?? 0
    return bytes < request.readableHighWaterMark
  }
}

// As Node's own function returns for CONNECT.
const protocolChanges = 2
