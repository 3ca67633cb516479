import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { AppError } from '../../errors.js'
import {
  type ApiDocument,
  apiDocuments,
  jsonType,
  type PreparedBytes,
  prepareBytes,
  sendPrepared,
} from '../apiDocuments.js'
import { namePlugins } from '../fastifyAdapters.js'
import { exampleKey } from '../idempotencyKey.js'
import { documentOptions } from '../openapi/documentOptions.js'
import { exampleNonce, examplePayer, examplePaymentNonce } from '../schemas/paymentExamples.js'

// Swagger UI sets inline styles; its scripts are files of this service.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Collects the routes that are registered after it, for the generator of the documents. */
export const openapi = fastifyPlugin(
  async (app) => {
    await app.register(fastifySwagger, documentOptions)
  },
  { name: 'openapi' },
)

interface ReferenceOptions {
  readonly isSandbox: boolean
}

export const referenceRoutes = async (app: FastifyInstance, options: ReferenceOptions): Promise<void> => {
  await app.register(documentRoutes)
  await app.register(referencePage, options)
}

const documentSchema = (mediaType: string, operationId: string) => ({
  operationId,
  tags: ['Service'],
  summary: `This document as ${mediaType.endsWith('json') ? 'JSON' : 'YAML'}`,
  description: 'OpenAPI 3.1 description of this API, generated from its source code.',
  response: {
    200: {
      description: 'The document.',
      content: {
        [mediaType]: {
          schema: z.looseObject({ openapi: z.string() }),
          examples: { head: { summary: 'First field', value: { openapi: '3.1.0' } } },
        },
      },
    },
  },
})

const documentRoutes: FastifyPluginCallback = (app, _options, done) => {
  const { yaml, json } = apiDocuments
  const config = { access: 'public' } as const
  app.get(
    '/api/openapi.yaml',
    { schema: documentSchema('application/yaml', 'getOpenApiYaml'), config },
    yaml.handle,
  )
  app.get(
    '/api/openapi.json',
    { schema: documentSchema('application/json', 'getOpenApiJson'), config },
    json.handle,
  )
  // Readers that resolve the address of the document against that of the page find it here.
  const hidden = { schema: { hide: true }, config }
  app.get('/docs/api/openapi.yaml', hidden, yaml.handle)
  app.get('/docs/api/openapi.json', hidden, json.handle)
  done()
}

/** Each answer has payments of its own, which can be tried. */
const handleInSandbox: ApiDocument['handle'] = (_request, reply) => {
  const text = writeSandboxExamples(apiDocuments.json.read().toString())
  return reply.header('cache-control', 'no-store').type(jsonType).send(Buffer.from(text))
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': jsonType,
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
}

const compress = promisify(gzip)

/**
 * Compressed once, by the first request, and sent from one buffer: read from disk, the largest file takes 5 ms of each
 * request. There is no other form, for which a flood could ask; without `Accept-Encoding` any form is acceptable
 * (RFC 9110, section 12.5.3).
 */
const createFileHandler = (path: string) => {
  let prepared: Promise<PreparedBytes> | null = null
  const mediaType = mediaTypes[extname(path)] ?? 'application/octet-stream'
  const prepare = async () => prepareBytes(await compress(await readFile(path)))
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    prepared ??= prepare().catch((error) => {
      prepared = null
      throw error
    })
    const bytes = await prepared
    return sendPrepared(request, reply.type(mediaType).header('content-encoding', 'gzip'), bytes)
  }
}

/** The route goes before the wildcard of Swagger UI. */
const pageFiles: FastifyPluginCallback = (app, _options, done) => {
  const main = createRequire(import.meta.url).resolve('@fastify/swagger-ui')
  const folder = join(dirname(main), 'static')
  const handlers = new Map(
    readdirSync(folder).map((name) => [name, createFileHandler(join(folder, name))] as const),
  )
  app.get<{ Params: { name: string } }>(
    '/docs/static/:name',
    { schema: { hide: true } },
    async (request, reply) => {
      const handle = handlers.get(request.params.name)
      if (handle === undefined) throw new AppError('NOT_FOUND', 'The reference has no such file')
      return handle(request, reply)
    },
  )
  done()
}

const referencePage = async (app: FastifyInstance, { isSandbox }: ReferenceOptions): Promise<void> => {
  const { yaml, json } = apiDocuments
  // Swagger UI's own handlers write the document again for each request.
  const prepared = new Map([
    ['/docs/yaml', yaml.handle],
    ['/docs/json', isSandbox ? handleInSandbox : json.handle],
  ])
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' }
    const handler = prepared.get(route.url)
    if (handler !== undefined) route.handler = handler
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
  })
  app.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', contentSecurityPolicy)
  })
  await app.register(pageFiles)
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    // The layout shows none, and the default one is read from disk.
    logo: { type: 'image/svg+xml', content: '' },
    theme: { title: 'quittance API reference' },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', deepLinking: true, displayRequestDuration: true },
  })
}

/** Its payments need no signature, and settle. */
const fixedPayer = '0x0000000000000000000000000000000000CAFE11'

const payers = new RegExp(examplePayer, 'gi')
const nonces = new RegExp(`${exampleNonce}|${examplePaymentNonce}`, 'g')

/**
 * The document with examples that succeed in the sandbox: the payer is one of its own, and every nonce and
 * Idempotency-Key is new, so that one reader's payment is not another's.
 */
const writeSandboxExamples = (document: string): string =>
  document
    .replaceAll(payers, fixedPayer)
    .replaceAll(nonces, () => `0x${randomBytes(32).toString('hex')}`)
    .replaceAll(exampleKey, () => `order-${randomBytes(6).toString('hex')}`)

namePlugins([documentRoutes, referencePage, pageFiles])
