import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { version } from '../platform/version.js'

export const jsonType = 'application/json; charset=utf-8'

export interface ApiDocument {
  read(): Buffer
  handle(request: FastifyRequest, reply: FastifyReply): FastifyReply
}

interface DocumentFile {
  readonly name: 'openapi.yaml' | 'openapi.json'
  readonly mediaType: string
  /** Three groups, of which the second is the version. */
  readonly versionLine: RegExp
}

/** In these documents the first match is `info.version`. */
export const versionLines = {
  yaml: /^( {2}version: )(.*)($)/m,
  json: /("version":")([^"]*)(")/,
} as const

/** An image can have another version than the repository that it was built from. */
export const withVersion = (text: string, versionLine: RegExp, running: string): string =>
  text.replace(versionLine, (_line, before: string, _written, after: string) => `${before}${running}${after}`)

export interface PreparedBytes {
  readonly bytes: Buffer
  readonly etag: string
}

export const prepareBytes = (bytes: Buffer): PreparedBytes => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
})

/** Sends no body to a client that has it. */
export const sendPrepared = (
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag }: PreparedBytes,
): FastifyReply => {
  reply.header('etag', etag).header('cache-control', 'no-cache')
  if (!isKnown(request.headers['if-none-match'], etag)) return reply.send(bytes)
  return reply.code(304).removeHeader('content-type').removeHeader('content-encoding').send()
}

/** Read by the first request, and sent from one buffer. */
const createApiDocument = ({ name, mediaType, versionLine }: DocumentFile): ApiDocument => {
  let prepared: PreparedBytes | null = null
  const prepare = () => {
    // Two levels up from both `src` and `dist`, as package.json.
    const text = readFileSync(new URL(`../../openapi/${name}`, import.meta.url), 'utf8')
    return prepareBytes(Buffer.from(withVersion(text, versionLine, version)))
  }
  const read = () => {
    prepared ??= prepare()
    return prepared
  }
  return {
    read: () => read().bytes,
    handle: (request, reply) => sendPrepared(request, reply.type(mediaType), read()),
  }
}

/** RFC 9110, section 13.1.2: a weak comparison. */
const isKnown = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((entry) => ['*', etag, `W/${etag}`].includes(entry.trim()))

/**
 * The OpenAPI documents that `npm run openapi` has written, with every endpoint whatever is configured. A service that wrote
 * its own would need a quarter of the time of its start for them.
 */
export const apiDocuments = {
  yaml: createApiDocument({
    name: 'openapi.yaml',
    mediaType: 'application/yaml; charset=utf-8',
    versionLine: versionLines.yaml,
  }),
  json: createApiDocument({
    name: 'openapi.json',
    mediaType: jsonType,
    versionLine: versionLines.json,
  }),
} as const
