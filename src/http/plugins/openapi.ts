import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { documentOptions } from '../openapi/documentOptions.js'
import { type ServedDocument, serveDocument } from '../openapi/serveDocument.js'

declare module 'fastify' {
  interface FastifyInstance {
    readonly documents: Documents
    /** Takes half a second: before requests arrive, because they would wait for it. Once the app is ready. */
    prepareDocuments(): void
  }
}

interface Documents {
  readonly yaml: ServedDocument
  readonly json: ServedDocument
}

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

const yamlType = 'application/yaml; charset=utf-8'
const jsonType = 'application/json; charset=utf-8'

/** Must be registered before the routes that it documents. */
export const openapi = fastifyPlugin(
  async (app) => {
    await app.register(fastifySwagger, documentOptions)
    const yaml = serveDocument(yamlType, () => app.swagger({ yaml: true }))
    const json = serveDocument(jsonType, () => JSON.stringify(app.swagger()))
    app.decorate('documents', { yaml, json })
    app.decorate('prepareDocuments', () => {
      for (const document of [yaml, json]) document.prepare()
    })
  },
  { name: 'openapi' },
)

export const referenceRoutes = async (app: FastifyInstance): Promise<void> => {
  await app.register(documentRoutes)
  await app.register(referencePage)
}

const documentSchema = (mediaType: string, operationId: string) => ({
  operationId,
  tags: ['Service'],
  summary: `This document as ${mediaType.endsWith('json') ? 'JSON' : 'YAML'}`,
  description: 'OpenAPI 3.1 description of this API, generated from its source code.',
  response: {
    200: {
      description: 'The document.',
      content: { [mediaType]: { schema: z.looseObject({ openapi: z.string() }) } },
    },
  },
  'x-reference': { responses: { 200: { head: { summary: 'First field', value: { openapi: '3.1.0' } } } } },
})

const documentRoutes: FastifyPluginCallback = (app, _options, done) => {
  const { yaml, json } = app.documents
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
  done()
}

const referencePage = async (app: FastifyInstance): Promise<void> => {
  const { yaml, json } = app.documents
  // Swagger UI's own handlers write the document again for each request.
  const prepared = new Map([
    ['/docs/yaml', yaml.handle],
    ['/docs/json', json.handle],
  ])
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' }
    const handler = prepared.get(route.url)
    if (handler !== undefined) route.handler = handler
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    theme: { title: 'quittance API reference' },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', deepLinking: true, displayRequestDuration: true },
  })
}
