import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { documentOptions } from '../openapi/documentOptions.js'
import { serveDocument } from '../openapi/serveDocument.js'

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

/** Must be registered before the routes that it documents. */
export const openapi = fastifyPlugin(
  async (app) => {
    await app.register(fastifySwagger, documentOptions)
  },
  { name: 'openapi' },
)

export const referenceRoutes = async (app: FastifyInstance): Promise<void> => {
  const handlers = createHandlers(app)
  await app.register(documentRoutes, handlers)
  await app.register(referencePage, handlers)
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

const yamlType = 'application/yaml; charset=utf-8'
const jsonType = 'application/json; charset=utf-8'

const createHandlers = (app: FastifyInstance) => ({
  yaml: serveDocument(yamlType, () => app.swagger({ yaml: true })),
  json: serveDocument(jsonType, () => JSON.stringify(app.swagger())),
})

type DocumentHandlers = ReturnType<typeof createHandlers>

const documentRoutes: FastifyPluginCallback<DocumentHandlers> = (app, { yaml, json }, done) => {
  const config = { access: 'public' } as const
  app.get('/api/openapi.yaml', { schema: documentSchema('application/yaml', 'getOpenApiYaml'), config }, yaml)
  app.get('/api/openapi.json', { schema: documentSchema('application/json', 'getOpenApiJson'), config }, json)
  done()
}

const referencePage = async (app: FastifyInstance, { yaml, json }: DocumentHandlers): Promise<void> => {
  // Swagger UI's own handlers write the document again for each request.
  const prepared = new Map([
    ['/docs/yaml', yaml],
    ['/docs/json', json],
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
