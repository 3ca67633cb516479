import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface PreparedDocument {
  readonly bytes: Buffer
  readonly etag: string
}

export interface ServedDocument {
  handle(request: FastifyRequest, reply: FastifyReply): FastifyReply
  /** Otherwise the first request does. */
  prepare(): void
}

/** A document of half a megabyte that does not change: written once, sent from one buffer. */
export const serveDocument = (mediaType: string, write: () => string): ServedDocument => {
  let written: PreparedDocument | null = null
  const read = (): PreparedDocument => {
    written ??= prepare(write())
    return written
  }
  return {
    prepare: () => void read(),
    handle: (request, reply) => {
      const { etag, bytes } = read()
      reply.header('etag', etag).header('cache-control', 'no-cache')
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type(mediaType).send(bytes)
    },
  }
}

const prepare = (text: string): PreparedDocument => {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** RFC 9110, section 13.1.2: a weak comparison. */
const isKnown = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((entry) => ['*', etag, `W/${etag}`].includes(entry.trim()))
