import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface PreparedDocument {
  readonly bytes: Buffer
  readonly etag: string
}

/** A handler for a document of half a megabyte that does not change: written once, sent from one buffer. */
export const serveDocument = (mediaType: string, write: () => string) => {
  let prepared: PreparedDocument | null = null
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    prepared ??= prepare(write())
    reply.header('etag', prepared.etag).header('cache-control', 'no-cache')
    if (isKnown(request.headers['if-none-match'], prepared.etag)) return reply.code(304).send()
    return reply.type(mediaType).send(prepared.bytes)
  }
}

const prepare = (text: string): PreparedDocument => {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** RFC 9110, section 13.1.2: a weak comparison. */
const isKnown = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((entry) => ['*', etag, `W/${etag}`].includes(entry.trim()))
