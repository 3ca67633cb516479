import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fastifyPlugin from 'fastify-plugin'

const acceptable = /^[A-Za-z0-9_-]{1,64}$/

/** The caller's own `X-Request-ID` where it is harmless to repeat, else a new one. */
export const chooseRequestId = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const given = headers['x-request-id']
  return typeof given === 'string' && acceptable.test(given) ? given : randomUUID()
}

/** Puts the request's id on every answer. */
export const requestId = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      reply.header('x-request-id', request.id)
      next()
    })
    done()
  },
  { name: 'requestId' },
)
