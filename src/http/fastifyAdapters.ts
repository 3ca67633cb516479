import fastJson, { type Schema } from 'fast-json-stringify'
import type { FastifyBaseLogger, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { z } from 'zod'
import { AppError } from '../errors.js'
import { describeError } from '../platform/scrub.js'
import type { Logger } from '../ports/logger.js'
import { describeIssue } from '../protocol/fields.js'
import { describePath } from './json.js'

const maxIssues = 3

export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  // Documentation only: required headers are checked before the body, in the route's own hook.
  if (httpPart === 'headers') return (headers: unknown) => ({ value: headers })
  if (!(schema instanceof z.ZodType)) throw new Error('Route schemas must be zod schemas')
  const whole = httpPart === 'body' ? 'The body' : 'The request'
  return (input: unknown) => {
    const parsed = schema.safeParse(input)
    if (parsed.success) return { value: parsed.data }
    // Parsed again with messages only on failure: a custom error function slows down every parse.
    const describeInput = httpPart === 'querystring' ? describeQueryIssue : describeIssue
    const issues = (schema.safeParse(input, { error: describeInput }).error ?? parsed.error).issues.slice(
      0,
      maxIssues,
    )
    const message = issues.map((issue) => describeField(issue, whole)).join('; ')
    return { error: new AppError('INVALID_REQUEST', message) }
  }
}

const maxNameLength = 40

/** Names are escaped, so that they cannot inject control characters or bidirectional text. */
const describeQueryIssue = (issue: z.core.$ZodRawIssue): string => {
  if (issue.code !== 'unrecognized_keys') return describeIssue(issue)
  const names = issue.keys.slice(0, maxIssues).map((name) => JSON.stringify(name.slice(0, maxNameLength)))
  return `has the unknown query parameter ${names.join(', ').replaceAll(/\p{C}/gu, '\ufffd')}`
}

const describeField = ({ path, message }: z.core.$ZodIssue, whole: string): string =>
  path.length === 0 ? `${whole} ${message}` : `${describePath(path)}: ${message}`

type Serializer = (response: unknown) => string

/**
 * Drops fields that the schema does not name. Does not validate: zod's serializer costs several times as much. Each is
 * compiled by the first response: together they take a sixth of the processor time of a start.
 */
export const compileSerializer: FastifySerializerCompiler<unknown> = ({ schema }) => {
  if (!(schema instanceof z.ZodType)) throw new Error('Response schemas must be zod schemas')
  return (response) => findSerializer(schema)(response)
}

export const findSerializer = (schema: z.ZodType): Serializer => {
  const serialize = compiled.get(schema) ?? fastJson(toSerializerSchema(schema))
  compiled.set(schema, serialize)
  return serialize
}

const compiled = new WeakMap<z.ZodType, Serializer>()

const toSerializerSchema = (schema: z.ZodType): Schema =>
  JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        target: 'draft-7',
        io: 'output',
        unrepresentable: 'any',
        reused: 'inline',
        // fast-json-stringify treats ids as references and does not escape date-time strings.
        metadata: z.registry(),
        override: ({ jsonSchema }) => {
          delete jsonSchema.format
          delete jsonSchema.pattern
        },
      }),
    ),
  )

/** Writes Fastify's own lines. Logs only the error of a logged object: requests and replies contain secrets. */
export const createFastifyLogger = (logger: Logger): FastifyBaseLogger => {
  const write =
    (log: Logger['info']) =>
    (...parts: readonly unknown[]): void =>
      log({ text: pickText(parts), ...pickFields(parts) }, 'server.log')
  const adapter: FastifyBaseLogger = {
    level: 'info',
    fatal: write(logger.error),
    error: write(logger.error),
    warn: write(logger.warn),
    info: write(logger.info),
    debug: write(logger.debug),
    trace: write(logger.debug),
    silent: () => {},
    child: () => adapter,
  }
  return adapter
}

const pickFields = (parts: readonly unknown[]): Record<string, unknown> => {
  const error = findError(parts[0])
  return error instanceof Error ? { error: describeError(error) } : {}
}

const findError = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return null
  if ('err' in value) return value.err
  return 'error' in value ? value.error : value
}

const pickText = (parts: readonly unknown[]): string => parts.find((part) => typeof part === 'string') ?? ''

const displayName = Symbol.for('fastify.display-name')

/** Fastify compares a plugin that has no display name with every CommonJS module that is loaded, three times. */
export const namePlugins = (plugins: readonly { readonly name: string }[]): void => {
  for (const plugin of plugins) Object.assign(plugin, { [displayName]: plugin.name })
}
