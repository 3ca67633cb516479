import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Logger } from '../../ports/logger.js'
import { findSentErrorCode } from '../errors.js'
import { onResponseEnd } from '../reply.js'
import { isProbe } from '../server/readRequest.js'
import { isUnlogged } from '../server/refusals.js'

const maxPathLength = 200

/** Writes one log line per request when the response ends. Never logs query, headers or body. */
export const logRequest = (logger: Logger, request: FastifyRequest, reply: FastifyReply): void => {
  // Read now: a closed socket has no peer address.
  const remoteAddress = request.ip
  onResponseEnd(reply, ({ status, durationMs }) => {
    if (isUnlogged(reply.raw)) return
    const code = findSentErrorCode(request)
    const fields = {
      requestId: request.id,
      method: request.method,
      path: withoutQuery(request.url),
      status,
      ...(code === null ? {} : { code }),
      durationMs: Math.round(durationMs * 10) / 10,
      remoteAddress,
    }
    if (isProbe(request)) logger.debug(fields, 'request.completed')
    else logger.info(fields, 'request.completed')
  })
}

const withoutQuery = (url: string): string => url.split(/[?#]/, 1).join('').slice(0, maxPathLength)

export const logRequests = fastifyPlugin<{ readonly logger: Logger }>(
  (app, { logger }, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      logRequest(logger, request, reply)
      next()
    })
    done()
  },
  { name: 'logRequests' },
)
