import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Logger } from '../../ports/logger.js'
import { whenEnded } from '../ending.js'
import { findAnsweredCode } from '../errors.js'
import { isProbe } from '../probes.js'

const maxPathLength = 200

/** Logs one request when it has ended: who asked for what, and what became of it; never a query, header or body. */
export const logRequest = (logger: Logger, request: FastifyRequest, reply: FastifyReply): void => {
  // A socket forgets its peer when it closes.
  const remoteAddress = request.ip
  whenEnded(reply, ({ status, durationMs }) => {
    const code = findAnsweredCode(request)
    const fields = {
      requestId: request.id,
      method: request.method,
      path: withoutQuery(request.url),
      status,
      ...(code === null ? {} : { code }),
      durationMs: Math.round(durationMs * 10) / 10,
      remoteAddress,
    }
    if (isProbe(request)) logger.debug(fields, 'request')
    else logger.info(fields, 'request')
  })
}

const withoutQuery = (url: string): string => url.split(/[?#]/, 1).join('').slice(0, maxPathLength)

/** Logs every request. */
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
