import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createConfig, lint } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { renderDocument } from '../openapi/generate.js'
import { versionLines, withVersion } from '../src/http/apiDocuments.js'
import { findSerializer } from '../src/http/fastifyAdapters.js'
import { paymentRequests } from '../src/http/schemas/paymentExamples.js'
import {
  accountInfo,
  keyList,
  lookupResult,
  registerResult,
  restrictions,
  rotatedKey,
  usage,
} from '../src/protocol/accounts.js'
import { isRefused, readPayment } from '../src/protocol/readPayment.js'
import { settlementPage, settlementView, settleResult, verifyResult } from '../src/protocol/results.js'
import { tiers } from '../src/protocol/tiers.js'
import { wirePaymentRequest } from '../src/protocol/wire.js'
import { testApp } from './http/support/app.js'
import { inlineComponents } from './support/openapi.js'

const readCommitted = (format: 'yaml' | 'json') =>
  readFileSync(new URL(`../openapi/openapi.${format}`, import.meta.url), 'utf8')
const committed = readCommitted('yaml')
// Parsing YAML takes a hundred times as long as JSON.
const parseCommitted = () => JSON.parse(readCommitted('json'))
const rendered = await renderDocument()

const examples = z.record(z.string(), z.object({ summary: z.string().optional(), value: z.unknown() }))
const content = z.record(z.string(), z.object({ schema: z.unknown(), examples: examples.optional() }))
const response = z.object({
  description: z.string(),
  headers: z.record(z.string(), z.unknown()),
  content: content.optional(),
})
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  requestBody: z.object({ content, required: z.boolean() }).optional(),
  responses: z.record(z.string(), response),
})
const shape = z.object({
  openapi: z.string(),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    parameters: z.record(z.string(), z.unknown()),
    requestBodies: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), z.unknown()),
    schemas: z.record(z.string(), z.unknown()),
    securitySchemes: z.record(z.string(), z.unknown()),
  }),
})

/** In characters of JSON: a reference to less saves little. */
const longestRepeated = 400

/** The same headers have the same references in each response, and the same errors in each operation. */
const withoutExamples = (document: unknown): unknown =>
  JSON.parse(
    JSON.stringify(document, (key, part) => (['examples', 'headers'].includes(key) ? undefined : part)),
    (key, part) => (/^[45]\d\d$/.test(key) && '$ref' in part ? undefined : part),
  )

const tier = { $ref: '#/components/schemas/Tier' }

const document = shape.parse(inlineComponents(parseCommitted()))

const sample = z.looseObject({
  $ref: z.string().optional(),
  type: z.unknown().optional(),
  format: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  items: z.unknown().optional(),
  allOf: z.array(z.unknown()).default([]),
  anyOf: z.array(z.unknown()).default([]),
})

/** Whether a reader is shown meaningful values of everything that is required. */
const hasExample = (given: unknown): boolean => {
  const schema = sample.parse(given)
  if (schema.$ref !== undefined) {
    return hasExample(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')])
  }
  if (schema.examples !== undefined || schema.enum !== undefined) return true
  if (schema.type === 'string') return schema.format !== undefined
  if (schema.type === 'array') return hasExample(schema.items)
  return (
    schema.required.every((name) => hasExample(schema.properties[name])) &&
    schema.allOf.every(hasExample) &&
    schema.anyOf.slice(0, 1).every(hasExample)
  )
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    name: `${method.toUpperCase()} ${path}`,
    ...described,
  })),
)

describe('openapi/openapi.yaml', () => {
  it('is what the code generates (npm run openapi)', async () => {
    expect(rendered).toEqual({ yaml: committed, json: readCommitted('json') })
  })

  it.each(['yaml', 'json'] as const)('says as %s which version is running', (format) => {
    const read = (text: string) => (format === 'yaml' ? parse(text) : JSON.parse(text))
    const changed = read(withVersion(readCommitted(format), versionLines[format], '2.10.0-rc.1+build'))
    expect(changed).toMatchObject({ info: { version: '2.10.0-rc.1+build' } })
    const original = parseCommitted()
    expect({ ...changed, info: { ...changed.info, version: original.info.version } }).toEqual(original)
  })

  it('has no schema a second time for requests', () => {
    const { schemas } = document.components
    const repeated = Object.entries(schemas).filter(
      ([name, schema]) =>
        name.endsWith('Input') &&
        JSON.stringify(schema) === JSON.stringify(schemas[name.replace(/Input$/, '')]),
    )
    expect(repeated).toEqual([])
  })

  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(parseCommitted())
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(document.openapi).toMatch(/^3\.1\./)
  })

  it.each(['parameters', 'requestBodies', 'responses', 'schemas'] as const)(
    'has no dangling and no unused %s',
    (kind) => {
      expect(committed).not.toMatch(/: [&*]a\d/)
      const references = committed.matchAll(new RegExp(`#/components/${kind}/(\\w+)`, 'g'))
      const named = Array.from(references, ([, name]) => name)
      expect(new Set(named)).toEqual(new Set(Object.keys(document.components[kind])))
    },
  )

  it('has once what several operations have', () => {
    const counts = new Map<string, number>()
    const count = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const text = JSON.stringify(value)
      counts.set(text, (counts.get(text) ?? 0) + 1)
      for (const part of Object.values(value)) count(part)
    }
    count(withoutExamples(parseCommitted()))
    const repeated = [...counts].filter(([text, times]) => times > 1 && text.length > longestRepeated)
    expect(repeated).toEqual([])
  })

  it.each(['POST /v1/credit/refresh', 'POST /v1/siwx/nonce'])('lets the body of %s be left out', (name) => {
    const found = operations.find((each) => each.name === name)?.requestBody
    expect(found?.required).toBe(false)
    expect(JSON.stringify(found?.content['application/json']?.schema)).not.toContain('"null"')
    expect(operations.find((each) => each.name === 'POST /verify')?.requestBody?.required).toBe(true)
  })

  it('names the checks of /ready, the tiers of the specification and the proof of exact-direct', () => {
    const schemas = z
      .record(z.string(), z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }))
      .parse(document.components.schemas)
    expect(schemas.Readiness?.properties?.checks).toMatchObject({
      properties: {
        database: { type: 'string', enum: ['ok', 'slow', 'read_only', 'unreachable'] },
        store: { type: 'string' },
        rpc: { type: 'string' },
        gas: { type: 'string' },
      },
      additionalProperties: { type: 'string' },
    })
    const listed = operations.find(({ name }) => name === 'GET /tiers')?.responses[200]?.content
    expect(listed?.['application/json']?.schema).toMatchObject({
      properties: { tiers: { properties: Object.fromEntries(Object.keys(tiers).map((id) => [id, tier])) } },
    })
    for (const payload of ['PaymentPayloadV2', 'PaymentPayloadV1']) {
      expect(schemas[payload]?.properties?.payload).toMatchObject({
        anyOf: expect.arrayContaining([{ $ref: '#/components/schemas/ExactDirectProof' }]),
      })
    }
    expect(Object.keys(schemas.ExactDirectProof?.properties ?? {})).toEqual(
      expect.arrayContaining(['txHash', 'from', 'to', 'amount']),
    )
  })

  it('contains no extension fields of the generator', () => {
    expect(committed).not.toMatch(/Default Response|zod|fastify|__/i)
  })

  it('is the document that the service serves', async () => {
    const app = testApp()
    const yaml = await app.inject('/api/openapi.yaml')
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8')
    expect(yaml.body).toBe(committed)
    const json = await app.inject('/api/openapi.json')
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(json.json()).toEqual(parse(committed))
  })
})

/** Second paths of operations that are in the document. */
const isAlias = (path: string): boolean => path.startsWith('/v1/discovery/')

/** For people: the page at `/` and its icon, the reference below `/docs`, and the console. */
const isPage = (path: string): boolean =>
  ['/', '/favicon.ico', '/favicon.svg'].includes(path) || /^\/(docs|console)/.test(path)

describe('every route', () => {
  it('is in the document, and vice versa', async () => {
    const app = testApp()
    await app.ready()
    const served = app
      .listRoutes()
      .filter(
        ({ method, path }) => method !== 'HEAD' && method !== 'OPTIONS' && !isPage(path) && !isAlias(path),
      )
      .map(({ method, path }) => `${method} ${path}`)
    expect(operations.map(({ name }) => name).sort()).toEqual([...served].sort())
  })

  it('has responses that can be serialized', async () => {
    const app = testApp()
    const schemas = new Map<z.ZodType, string>()
    app.setSerializerCompiler<unknown>(({ schema, method, url, httpStatus }) => {
      if (schema instanceof z.ZodType) schemas.set(schema, `${method} ${url} ${httpStatus}`)
      return JSON.stringify
    })
    await app.ready()
    expect(schemas.size).toBeGreaterThan(50)
    for (const [schema, name] of schemas) expect(() => findSerializer(schema), name).not.toThrow()
  })

  it('has a unique operationId and a known tag', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    const groups = document.tags.map(({ name }) => name)
    for (const { tags } of operations) expect(groups).toEqual(expect.arrayContaining(tags))
  })

  it.each(operations)('$name has a summary, a description, and response examples', (described) => {
    expect(described.summary.length).toBeGreaterThan(10)
    expect(described.summary.length).toBeLessThan(80)
    expect(described.description.length).toBeGreaterThan(40)
    for (const [status, answer] of Object.entries(described.responses)) {
      expect(answer.description.length, status).toBeGreaterThan(10)
      expect(Object.keys(answer.headers), status).toContain('X-Request-ID')
      const [media] = Object.values(answer.content ?? {})
      expect(Object.keys(media?.examples ?? {}).length > 0 || hasExample(media?.schema), status).toBe(true)
    }
  })

  it.each(operations.filter(({ name }) => !name.startsWith('GET /api/')))(
    '$name describes its errors by their codes',
    ({ responses }) => {
      const errors = Object.entries(responses).filter(([status]) => !status.startsWith('2'))
      expect(errors.map(([status]) => status)).toContain('500')
      for (const [status, { content: contents, description }] of errors) {
        const [media] = Object.values(contents ?? {})
        for (const [code, { value }] of Object.entries(media?.examples ?? {})) {
          if (['unready', 'stopping', 'paymentRequired'].includes(code)) continue
          expect(value, status).toMatchObject({ code, message: expect.any(String) })
          expect(description).toContain(`\`${code}\``)
        }
      }
    },
  )
})

describe('a strict linter', () => {
  it('has no problem with the document', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lint({
      ref: fileURLToPath(new URL('../openapi/openapi.yaml', import.meta.url)),
      config,
    })
    // Probes take no input and have no limits: no request to them is refused.
    const isProbe = ({ ruleId, location }: (typeof problems)[number]) =>
      ruleId === 'operation-4xx-response' &&
      /^#\/paths\/~1(health|ready)\/get/.test(location[0]?.pointer ?? '')
    expect(
      problems.filter((problem) => !isProbe(problem)).map(({ ruleId, message }) => `${ruleId}: ${message}`),
    ).toEqual([])
  })
})

describe('security requirements', () => {
  const eitherHeader = [{ bearer: [] }, { header: [] }]
  const expected = {
    dashboard: eitherHeader,
    key: [{}, ...eitherHeader],
    operator: [{ operator: [] }],
    public: [],
  } as const
  const operator = { operator: [] }
  /** Routes that serve operators too. */
  const withOperators = new Map<string, readonly object[]>([
    // Public by transaction, for operators by status.
    ['GET /v1/settlements', [{}, operator]],
    // Operators are shown full keys.
    ['POST /register', [{}, operator]],
    ['POST /lookup', [{}, operator]],
    ['GET /dashboard/keys', [...eitherHeader, { ...operator, header: [] }]],
  ])

  it('are declared for every route that uses a key, by its access', async () => {
    const app = testApp()
    await app.ready()
    for (const { method, path, access } of app.listRoutes()) {
      const described = operations.find(({ name }) => name === `${method} ${path}`)
      if (described === undefined) continue
      expect(described.security, described.name).toEqual(
        withOperators.get(described.name) ?? expected[access],
      )
      if (access === 'dashboard' || access === 'key') {
        expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['401', '403', '503']))
      }
    }
  })

  it('use headers in every scheme, never the query', () => {
    expect(Object.values(document.components.securitySchemes)).toEqual([
      { type: 'http', scheme: 'bearer', description: expect.any(String) },
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: expect.any(String) },
      { type: 'http', scheme: 'bearer', description: expect.any(String) },
    ])
  })
})

describe('the examples', () => {
  const exampleValues = (name: string, status: string) =>
    Object.values(
      operations.find((each) => each.name === name)?.responses[status]?.content?.['application/json']
        ?.examples ?? {},
    ).map(({ value }) => value)

  it.each(Object.entries(paymentRequests))('%s is a payment that the service accepts', (_name, { value }) => {
    const payment = readPayment(wirePaymentRequest.parse(value))
    expect(isRefused(payment)).toBe(false)
    expect(payment).toMatchObject({
      requirements: {
        scheme: expect.stringMatching(/^(exact|upto)$/),
        network: 'eip155:84532',
        amount: 10_000n,
      },
      proof: { signature: expect.anything(), authorization: { value: '10000' } },
    })
  })

  it.each([
    { name: 'POST /verify', schemas: [verifyResult] },
    { name: 'POST /settle', schemas: [settleResult] },
    { name: 'GET /v1/settlements', schemas: [settlementView, settlementPage] },
  ])('of $name match the response schemas', ({ name, schemas }) => {
    const values = exampleValues(name, '200')
    expect(values.length).toBeGreaterThan(1)
    const shapes = z.union(schemas.map(({ shape }) => z.strictObject(shape)))
    for (const value of values) expect(shapes.parse(value)).toEqual(value)
  })

  it.each([
    ['POST /register', '200', registerResult],
    ['POST /register', '201', registerResult],
    ['POST /lookup', '200', lookupResult],
    ['GET /dashboard/info', '200', accountInfo],
    ['GET /dashboard/keys', '200', keyList],
    ['GET /dashboard/usage', '200', usage],
    ['POST /dashboard/rotate', '200', rotatedKey],
    ['POST /dashboard/restrictions', '200', restrictions],
  ])('of %s %s match the response schema', (name, status, { shape }) => {
    const values = exampleValues(name, status)
    expect(values.length).toBeGreaterThan(0)
    for (const value of values) expect(z.strictObject(shape).parse(value)).toEqual(value)
  })
})
