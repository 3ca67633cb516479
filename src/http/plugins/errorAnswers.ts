import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError, errorStatus } from '../../errors.js'
import { describeError } from '../../platform/scrub.js'
import type { Logger } from '../../ports/logger.js'
import { describeForCaller, sendError, toAppError } from '../errors.js'
import { chooseRequestId } from './requestId.js'

/** Answers everything that goes wrong, from a path that does not exist to a bug, in one form. */
export const errorAnswers = fastifyPlugin<{ readonly logger: Logger }>(
  (app, { logger }, done) => {
    app.setErrorHandler((error, request, reply) => {
      const told = toAppError(error, request)
      if (errorStatus[told.code] >= 500) logFailure(logger, told, request)
      return sendError(reply, told)
    })
    // Reached by what a plugin gives up on; a path without a route is refused before its body is read.
    app.setNotFoundHandler((request, reply) => refuseUnrouted(app, request, reply))
    app.addHook('onRequest', (request, reply, next) => {
      if (request.is404) refuseUnrouted(app, request, reply)
      else next()
    })
    done()
  },
  { name: 'errorAnswers' },
)

const logFailure = (logger: Logger, error: AppError, request: FastifyRequest): void =>
  logger.error(
    {
      requestId: request.id,
      method: request.method,
      endpoint: request.routeOptions.url,
      code: error.code,
      error: describeError(
        error.code === 'INTERNAL_ERROR' && error.cause !== undefined ? error.cause : error,
      ),
    },
    'request.failed',
  )

const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

const refuseUnrouted = (app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const allowed = routedMethods.filter((method) => hasRoute(app, method, request.url))
  if (allowed.length === 0 || allowed.includes(request.method)) {
    return sendError(
      reply,
      new AppError('NOT_FOUND', 'There is nothing at this path; GET /info lists what there is'),
    )
  }
  reply.header('allow', [...allowed, 'OPTIONS'].join(', '))
  const message = `${request.method} is not possible here; the header Allow lists what is`
  return sendError(reply, new AppError('METHOD_NOT_ALLOWED', message))
}

// Fastify looks the address up as a request would be, although the parameter is called a route's url.
const hasRoute = (app: FastifyInstance, method: string, url: string): boolean =>
  app.findRoute({ method, url }) !== null

/** Answers a request whose URL the router cannot read; fastify runs no hooks for it. */
export const answerUnroutable = (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
  reply.header('x-request-id', request.id).header('access-control-allow-origin', '*')
  sendError(reply, toAppError(error, request))
}

/** Answers bytes that are no HTTP request, or one that did not arrive in time, on the bare socket. */
export const answerBrokenRequest = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const told = describeBrokenRequest(error.code)
  const status = errorStatus[told.code]
  const body = JSON.stringify(describeForCaller(told))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${chooseRequestId({ headers: {} })}`,
    'access-control-allow-origin: *',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const describeBrokenRequest = (code: string | undefined): AppError => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('REQUEST_TOO_LARGE', 'The URL and the headers are too long')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('REQUEST_TIMEOUT', 'The request did not arrive in time')
    default:
      return new AppError('INVALID_REQUEST', 'The request is not valid HTTP')
  }
}
