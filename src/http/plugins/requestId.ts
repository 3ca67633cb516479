import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fastifyPlugin from 'fastify-plugin'

const validRequestId = /^[A-Za-z0-9_-]{1,64}$/

/** The caller's `X-Request-ID` if it is safe to repeat, otherwise a UUID. */
export const chooseRequestId = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const id = headers['x-request-id']
  return typeof id === 'string' && validRequestId.test(id) ? id : randomUUID()
}

export const requestId = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
      next()
    })
    done()
  },
  { name: 'requestId' },
)
