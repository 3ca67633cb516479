import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError, errorStatus } from '../../errors.js'
import { createFailureLog, type FailureLog } from '../../failureLog.js'
import { describeError } from '../../platform/scrub.js'
import type { Logger } from '../../ports/logger.js'
import {
  rememberConnection,
  sendError,
  stalledError,
  toAppError,
  toErrorBody,
  wasCutOffByStall,
} from '../errors.js'
import { markRefused } from '../server/refusals.js'
import { chooseRequestId } from './requestObserver.js'

export const errorResponses = fastifyPlugin<{ readonly logger: Logger }>(
  (app, { logger }, done) => {
    app.server.on('connection', rememberConnection)
    const outages = createFailureLog({ logger, level: 'error', event: 'request.failed', recovered: null })
    app.setErrorHandler((error, request, reply) => {
      const appError = toAppError(error, request)
      if (errorStatus[appError.code] >= 500) logFailure({ logger, outages }, appError, request)
      return sendError(reply, appError)
    })
    // Only reached from plugins; the hook below rejects unknown paths before the body is read.
    app.setNotFoundHandler((request, reply) => rejectUnrouted(app, request, reply))
    app.addHook('onRequest', (request, reply, next) => {
      if (request.is404) rejectUnrouted(app, request, reply)
      else next()
    })
    done()
  },
  { name: 'errorResponses' },
)

interface FailureLogs {
  readonly logger: Logger
  /** Counts failures of something else, which meet every request alike. */
  readonly outages: FailureLog
}

const logFailure = ({ logger, outages }: FailureLogs, error: AppError, request: FastifyRequest): void => {
  const fields = {
    requestId: request.id,
    method: request.method,
    endpoint: request.routeOptions.url,
    code: error.code,
    error: describeError(error.code === 'INTERNAL_ERROR' && error.cause !== undefined ? error.cause : error),
  }
  if (errorStatus[error.code] === 503) outages.failed(error.code, fields)
  else logger.error(fields, 'request.failed')
}

const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

const rejectUnrouted = (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  markRefused(reply.raw)
  const allowed = routedMethods.filter((method) => hasRoute(app, method, request.url))
  if (allowed.length === 0 || allowed.includes(request.method)) {
    return sendError(reply, new AppError('NOT_FOUND', 'Unknown path; GET /info lists all endpoints'))
  }
  reply.header('allow', [...allowed, 'OPTIONS'].join(', '))
  const message = `${request.method} is not allowed for this path; see the Allow header`
  return sendError(reply, new AppError('METHOD_NOT_ALLOWED', message))
}

const hasRoute = (app: FastifyInstance, method: string, url: string): boolean =>
  app.findRoute({ method, url }) !== null

/** Answers URLs that the router cannot parse; Fastify runs no hooks for them. */
export const sendUnroutableError = (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('access-control-allow-origin', '*')
  sendError(reply, toAppError(error, request))
}

/** Answers invalid HTTP and requests that did not arrive in time: it writes to the socket. */
export const createSendBrokenRequestError =
  (requestTimeoutMs: number) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return
    const appError = describeBrokenRequest(
      error.code,
      wasCutOffByStall(socket, requestTimeoutMs + maxCheckDelayMs),
    )
    const status = errorStatus[appError.code]
    const body = JSON.stringify(toErrorBody(appError))
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${chooseRequestId({ headers: {} })}`,
      'access-control-allow-origin: *',
      'x-content-type-options: nosniff',
      ...(appError.retryAfterSeconds === null ? [] : [`retry-after: ${appError.retryAfterSeconds}`]),
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }

// Node checks for late requests at an interval.
const maxCheckDelayMs = 2_000

const describeBrokenRequest = (code: string | undefined, hasStalled: boolean): AppError => {
  // What arrives of a request that was cut off is late, or no valid HTTP.
  if (hasStalled && code !== 'HPE_HEADER_OVERFLOW') return stalledError()
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('REQUEST_TOO_LARGE', 'The URL and headers are too large')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('REQUEST_TIMEOUT', 'The request did not arrive in time')
    default:
      return new AppError('INVALID_REQUEST', 'The request is not valid HTTP')
  }
}
