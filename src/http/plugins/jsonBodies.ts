import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { createBodyReceiver, type ReceivingBounds } from '../bodyReceiver.js'
import { readJson } from '../json.js'

const structuredJson = /^application\/[a-z0-9!#$&^_.-]+\+json(?:\s*;|$)/i
const readableCharset = /^(?:utf-?8|us-ascii)$/i

/** Reads JSON bodies, and nothing but JSON: everything else is UNSUPPORTED_MEDIA_TYPE. */
export const jsonBodies = fastifyPlugin<ReceivingBounds>(
  (app, bounds, done) => {
    const receive = createBodyReceiver(bounds)
    app.removeAllContentTypeParsers()
    for (const mediaType of ['application/json', structuredJson]) {
      app.addContentTypeParser(mediaType, (request: FastifyRequest, stream: IncomingMessage) => {
        refuseForeignCharset(request)
        return receive(request, stream).then((bytes) => parseBody(request, bytes))
      })
    }
    app.addHook('onRequest', (request, reply, next) => {
      const encoding = request.headers['content-encoding']
      if (encoding === undefined || encoding.toLowerCase() === 'identity') {
        next()
        return
      }
      // RFC 9110, section 12.5.3: with a 415 this header says which encodings would have done.
      reply.header('accept-encoding', 'identity')
      next(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding'))
    })
    done()
  },
  { name: 'jsonBodies' },
)

const parseBody = (request: FastifyRequest, bytes: Buffer): unknown => {
  // Some clients name a media type on every POST, also where there is nothing to send.
  const isUnasked = bytes.length === 0 && request.routeOptions.schema?.body === undefined
  return isUnasked ? undefined : readJson(bytes)
}

const refuseForeignCharset = ({ headers }: FastifyRequest): void => {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset === undefined || readableCharset.test(charset)) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be encoded as UTF-8')
}
