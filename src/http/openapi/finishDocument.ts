import { z } from 'zod'
import { unlimitedPaths } from '../../protocol/requestLimits.js'
import type { Examples } from '../schemas/responses.js'
import { mapValues, shareComponents } from './shareComponents.js'
import { eventSchemas, webhooks } from './webhooks.js'

/** Examples of requests, and response headers, in addition to the schemas of a route. */
interface RouteReference {
  readonly request?: Examples
  readonly headers?: Readonly<Record<number, Readonly<Record<string, unknown>>>>
}

declare module 'fastify' {
  interface FastifySchema {
    'x-reference'?: RouteReference
  }
}

const contentShape = z.record(
  z.string(),
  z.looseObject({ schema: z.unknown().optional(), examples: z.unknown().optional() }),
)
const responseShape = z.looseObject({ description: z.string(), content: contentShape.optional() })
const operationShape = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(z.looseObject({ name: z.string() })).optional(),
  requestBody: z.looseObject({ content: contentShape }).optional(),
  responses: z.record(z.string(), responseShape),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-reference': z.custom<RouteReference>().optional(),
  'x-responses': z.record(z.string(), z.looseObject({ content: contentShape })),
})
const draftShape = z.looseObject({
  openapi: z.string(),
  info: z.unknown(),
  servers: z.unknown(),
  tags: z.unknown(),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})

type Content = z.infer<typeof contentShape>
type Operation = z.infer<typeof operationShape>
type Schemas = Readonly<Record<string, unknown>>

/** Adds examples and headers, shares what is repeated; removes unused components and keywords. */
export const finishDocument = (document: unknown) => {
  const { openapi, info, servers, tags, paths, components } = draftShape.parse(document)
  const described = mapValues(paths, (operations, path) =>
    mapValues(operations, (operation) => describeOperation(operation, path)),
  )
  const shared = shareComponents({ paths: described, webhooks })
  const schemas = inherit(pickReferenced(shared, { ...components.schemas, ...eventSchemas }))
  const shorten = createShorten(schemas)
  const finished = {
    openapi,
    info,
    servers,
    tags,
    paths: shared.paths,
    webhooks: shared.webhooks,
    components: { ...components, ...shared.components, schemas: mapKeys(schemas, shorten) },
  }
  // Serialized and parsed again, because YAML would print a shared object as anchor and alias.
  return JSON.parse(
    JSON.stringify(dropNoise(finished)).replaceAll(
      referenceForm,
      (_match, name: string) => `"${componentPrefix}${shorten(name)}"`,
    ),
  )
}

const mapKeys = (values: Schemas, map: (key: string) => string): Schemas =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [map(key), value]))

const describeOperation = (operation: Operation, path: string) => {
  const { operationId, tags, summary, description, security, parameters, requestBody, responses } = operation
  const reference = operation['x-reference']
  return {
    operationId,
    tags,
    summary,
    description,
    // An empty list: no credentials.
    security: security ?? [],
    ...(parameters === undefined ? {} : { parameters }),
    ...(requestBody === undefined
      ? {}
      : { requestBody: describeRequestBody(requestBody, reference?.request) }),
    responses: mapValues(responses, (one, status) => ({
      description: one.description,
      headers: listHeaders(path, status, reference?.headers?.[Number(status)]),
      ...(one.content === undefined
        ? {}
        : { content: addExamples(one.content, operation['x-responses'][status]?.content) }),
    })),
  }
}

/** The generator requires every body; one that may be null may also be left out. */
const describeRequestBody = (
  { content: contents, ...body }: NonNullable<Operation['requestBody']>,
  examples: Examples | undefined,
) => ({
  ...body,
  required: !Object.values(contents).every(({ schema }) => nullableSchema.safeParse(schema).success),
  content: mapValues(contents, (media) => ({
    ...withoutNull(media),
    ...(examples === undefined ? {} : { examples }),
  })),
})

const nullableSchema = z.object({ anyOf: z.tuple([z.unknown(), z.object({ type: z.literal('null') })]) })

const withoutNull = (media: Content[string]): Content[string] => {
  const nullable = nullableSchema.safeParse(media.schema)
  return nullable.success ? { ...media, schema: nullable.data.anyOf[0] } : media
}

const addExamples = (contents: Content, written: Content | undefined): Content =>
  mapValues(contents, (one, mediaType) => ({ ...one, examples: written?.[mediaType]?.examples }))

const componentPrefix = '#/components/schemas/'
const referenceForm = /"#\/components\/schemas\/([^"]+)"/g

const pickReferenced = (paths: unknown, schemas: Schemas): Schemas => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    for (const name of listReferences(value)) {
      if (names.has(name)) continue
      names.add(name)
      visit(schemas[name])
    }
  }
  visit(paths)
  const sorted = [...names].sort((left, right) => (withoutSuffix(left) < withoutSuffix(right) ? -1 : 1))
  return Object.fromEntries(sorted.map((name) => [name, schemas[name]]))
}

const listReferences = (value: unknown): readonly string[] =>
  [...JSON.stringify(value).matchAll(referenceForm)].flatMap(([, name]) => name ?? [])

const objectShape = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
})
type ObjectSchema = z.infer<typeof objectShape>

/** An object with all properties of another component is that component, and what it has besides. */
const inherit = (schemas: Schemas): Schemas => {
  const objects = Object.entries(mapValues(schemas, (schema) => objectShape.parse(schema)))
  return mapValues(schemas, (schema) => {
    const whole = objectShape.parse(schema)
    const [name, base] = objects.find(([, other]) => isExtended(other, whole)) ?? []
    if (base === undefined) return schema
    const isOwn = (key: string) => !Object.hasOwn(base.properties, key)
    const { type, properties, required, ...keywords } = whole
    const own = Object.fromEntries(Object.entries(properties).filter(([key]) => isOwn(key)))
    const rest = { type, properties: own, required: required.filter(isOwn) }
    return { ...keywords, allOf: [{ $ref: `${componentPrefix}${name}` }, rest] }
  })
}

const leastInherited = 3

const isExtended = (base: ObjectSchema, whole: ObjectSchema): boolean => {
  const properties = Object.entries(base.properties)
  return (
    properties.length >= leastInherited &&
    properties.length < Object.keys(whole.properties).length &&
    properties.every(([key, value]) => JSON.stringify(value) === JSON.stringify(whole.properties[key])) &&
    base.required.every((key) => whole.required.includes(key))
  )
}

/** zod suffixes input schemas with `Input`; the suffix is dropped where only one of the two is used, or both are the same. */
const createShorten = (schemas: Schemas): ((name: string) => string) => {
  const write = (name: string) => JSON.stringify(dropNoise(schemas[name]))
  const hasOther = (name: string) =>
    Object.hasOwn(schemas, withoutSuffix(name)) && write(name) !== write(withoutSuffix(name))
  return (name) => (hasOther(name) ? name : withoutSuffix(name))
}

const withoutSuffix = (name: string): string => name.replace(/Input$/, '')

/** `additionalProperties: false` goes as well: strict clients would break when a response gains a field. */
const dropNoise = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(dropNoise)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key, part]) => !isNoise(key, part))
  return Object.fromEntries(kept.map(([key, part]) => [key, key === 'examples' ? part : dropNoise(part)]))
}

const isNoise = (key: string, value: unknown): boolean => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  if (key === 'additionalProperties') return value === false || isEmpty
  if (key === 'properties' || (key === 'required' && Array.isArray(value))) return isEmpty
  return key === 'propertyNames'
}

const integer = { type: 'integer', minimum: 0 } as const

const limitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed per window', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests remaining in the window', schema: integer },
  'X-RateLimit-Reset': { description: 'End of the window, in Unix seconds', schema: integer },
  'X-RateLimit-Tier': {
    description: 'Tier of the API key; absent without a key',
    schema: { type: 'string' },
  },
} as const

/** Components of the document. */
export const responseHeaders = {
  'X-Request-ID': {
    description: 'Request id, as written to the logs',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
  'Retry-After': { description: 'Seconds to wait before a retry', schema: integer },
  'WWW-Authenticate': {
    description: 'Expected authentication scheme',
    schema: { type: 'string', pattern: '^(Bearer|SIWX)$' },
  },
  ...limitHeaders,
} as const

const refer = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const limitReferences = Object.fromEntries(
  Object.keys(limitHeaders).flatMap((name) => Object.entries(refer(name))),
)

const retryableStatuses = ['409', '429', '503']

/** `own`: of the route. */
const listHeaders = (path: string, status: string, own: Readonly<Record<string, unknown>> = {}) => ({
  ...refer('X-Request-ID'),
  ...(retryableStatuses.includes(status) ? refer('Retry-After') : {}),
  ...(status === '401' ? refer('WWW-Authenticate') : {}),
  ...own,
  ...(unlimitedPaths.includes(path) ? {} : limitReferences),
})
