import { z } from 'zod'
import { addLimits } from './openapiLimits.js'
import type { RouteReference } from './schemas/reference.js'

const content = z.record(z.string(), z.looseObject({ examples: z.unknown().optional() }))
const answer = z.looseObject({ description: z.string(), content: content.optional() })
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(z.string(), answer),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-reference': z.custom<RouteReference>().optional(),
})
const draftShape = z.looseObject({
  openapi: z.string(),
  info: z.unknown(),
  servers: z.unknown(),
  tags: z.unknown(),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})

type Content = z.infer<typeof content>
type Answer = z.infer<typeof answer>
type Operation = z.infer<typeof operation>
type Schemas = Readonly<Record<string, unknown>>

/**
 * Turns what @fastify/swagger made of the routes into the document that people read: examples and headers in
 * their places, everything in reading order, no component that nothing refers to, no noise in the schemas.
 */
export const finishDocument = (document: unknown) => {
  const { openapi, info, servers, tags, paths, components } = draftShape.parse(document)
  const described = mapValues(paths, (operations, path) =>
    addLimits(mapValues(operations, describeOperation), path),
  )
  const schemas = pickReferenced(described, components.schemas)
  const finished = {
    openapi,
    info,
    servers,
    tags,
    paths: described,
    components: { ...components, schemas },
  }
  // As text and back: an object that stands in two places would come out as an anchor and an alias in YAML.
  return JSON.parse(dropSuffixes(JSON.stringify(dropNoise(finished)), Object.keys(schemas)))
}

const mapValues = <Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]))

const describeOperation = (given: Operation) => {
  const { operationId, tags, summary, description, security, parameters, requestBody, responses } = given
  const reference = given['x-reference']
  return {
    operationId,
    tags,
    summary,
    description,
    ...(security === undefined ? {} : { security }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, content: exemplify(requestBody.content, reference?.request) } }),
    responses: mapValues(responses, (one, status) => describeAnswer(one, status, reference)),
  }
}

const statusesToRepeat = ['409', '429', '503']

const describeAnswer = (
  { description, content: contents }: Answer,
  status: string,
  reference: RouteReference | undefined,
) => ({
  description,
  headers: {
    'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' },
    ...(statusesToRepeat.includes(status)
      ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
      : {}),
    ...(status === '401' ? { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } } : {}),
    ...reference?.headers?.[Number(status)],
  },
  ...(contents === undefined ? {} : { content: exemplify(contents, reference?.answers[Number(status)]) }),
})

const exemplify = (contents: Content, examples: unknown): Content =>
  mapValues(contents, (one) => (examples === undefined ? one : { ...one, examples }))

const componentPrefix = '#/components/schemas/'

/** The components that the paths lead to, in the order of their names. */
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
  [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].flatMap(([, name]) => name ?? [])

/** zod keeps what is read and what is written apart by a suffix; where only one of them is used it can go. */
const dropSuffixes = (document: string, names: readonly string[]): string =>
  names
    .filter((name) => name !== withoutSuffix(name) && !names.includes(withoutSuffix(name)))
    .reduce(
      (text, name) =>
        text
          .replaceAll(`"${componentPrefix}${name}"`, `"${componentPrefix}${withoutSuffix(name)}"`)
          .replace(`"${name}":`, `"${withoutSuffix(name)}":`),
      document,
    )

const withoutSuffix = (name: string): string => name.replace(/Input$/, '')

/**
 * Leaves out what says nothing (any further field is welcome, keys are strings), and that an answer has no
 * further fields: it has none today, but a client that insisted on that would break with the next version.
 */
const dropNoise = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(dropNoise)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key, part]) => !isNoise(key, part))
  return Object.fromEntries(kept.map(([key, part]) => [key, key === 'examples' ? part : dropNoise(part)]))
}

const isNoise = (key: string, value: unknown): boolean => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  if (key === 'additionalProperties') return value === false || isEmpty
  if (key === 'properties') return isEmpty
  return key === 'propertyNames'
}
