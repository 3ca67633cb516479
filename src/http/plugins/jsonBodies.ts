import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { AppError } from '../../errors.js'
import { type BodyReceiverLimits, createBodyReceiver } from '../bodyReceiver.js'
import { readJson } from '../json.js'
import type { Turns } from '../server/turns.js'

const structuredJson = /^application\/[a-z0-9!#$&^_.-]+\+json(?:\s*;|$)/i
const readableCharset = /^(?:utf-?8|us-ascii)$/i

export interface JsonBodiesOptions {
  readonly limits: BodyReceiverLimits
  readonly turns: Turns
}

export const jsonBodies = fastifyPlugin<JsonBodiesOptions>(
  (app, { limits, turns }, done) => {
    const receive = createBodyReceiver(limits)
    const receiveInTurn = async (request: FastifyRequest, stream: IncomingMessage): Promise<unknown> => {
      const bytes = await receive(request, stream)
      await turns.continue(request.raw)
      return parseBody(request, bytes)
    }
    app.removeAllContentTypeParsers()
    for (const mediaType of ['application/json', structuredJson]) {
      app.addContentTypeParser(mediaType, (request: FastifyRequest, stream: IncomingMessage) => {
        refuseUnsupportedCharset(request)
        return receiveInTurn(request, stream)
      })
    }
    app.addHook('onRequest', (request, reply, next) => {
      const encoding = request.headers['content-encoding']
      if (encoding === undefined || encoding.toLowerCase() === 'identity') {
        next()
        return
      }
      // RFC 9110, section 12.5.3: with a 415, Accept-Encoding lists the supported encodings.
      reply.header('accept-encoding', 'identity')
      next(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding'))
    })
    done()
  },
  { name: 'jsonBodies' },
)

const parseBody = (request: FastifyRequest, bytes: Buffer): unknown => {
  // Some clients send a media type on every POST, even without a body.
  return bytes.length === 0 && isBodyOptional(request.routeOptions.schema?.body) ? undefined : readJson(bytes)
}

const isBodyOptional = (schema: unknown): boolean =>
  schema === undefined || (schema instanceof z.ZodType && schema.safeParse(undefined).success)

const refuseUnsupportedCharset = ({ headers }: FastifyRequest): void => {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset === undefined || readableCharset.test(charset)) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be encoded as UTF-8')
}
