import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { AppError } from '../errors.js'
import { isCommonRequest } from '../protocol/fastPath.js'
import { wirePaymentRequest } from '../protocol/wire.js'
import { describePath } from './json.js'

const maxIssues = 3

const shortcuts = new Map<z.ZodType, (input: unknown) => boolean>([[wirePaymentRequest, isCommonRequest]])

export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  // Documentation only: required headers are checked before the body, in the route's own hook.
  if (httpPart === 'headers') return (headers: unknown) => ({ value: headers })
  if (!(schema instanceof z.ZodType)) throw new Error('Route schemas must be zod schemas')
  const whole = httpPart === 'body' ? 'The body' : 'The request'
  const isCommon = shortcuts.get(schema)
  return (input: unknown) => {
    if (isCommon?.(input) === true) return { value: input }
    const parsed = schema.safeParse(input)
    if (parsed.success) return { value: parsed.data }
    // Parsed again with messages only on failure: a custom error function slows down every parse.
    const issues = (schema.safeParse(input, { error: describeIssue }).error ?? parsed.error).issues.slice(
      0,
      maxIssues,
    )
    const message = issues.map((issue) => describeField(issue, whole)).join('; ')
    return { error: new AppError('INVALID_REQUEST', message) }
  }
}

const describeField = ({ path, message }: z.core.$ZodIssue, whole: string): string =>
  path.length === 0 ? `${whole} ${message}` : `${describePath(path)}: ${message}`

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a JSON object',
  record: 'a JSON object',
  array: 'an array',
  null: 'null',
}

const formatNames: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  guid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'a time in ISO 8601',
}

/** Messages defined in a schema take precedence over these. */
const describeIssue = (issue: z.core.$ZodRawIssue): string => {
  if (issue.input === undefined) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'of another type'}`
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? 'of another form'}`
    case 'too_small':
      return describeMinimum(issue.origin, Number(issue.minimum), issue.inclusive ?? true)
    case 'too_big':
      return describeMaximum(issue.origin, Number(issue.maximum), issue.inclusive ?? true)
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'unrecognized_keys':
      return 'has an unknown field'
    default:
      return 'has the wrong form'
  }
}

const describeMinimum = (origin: string, minimum: number, isInclusive: boolean): string => {
  if (origin === 'string')
    return minimum === 1 ? 'must not be empty' : `must have at least ${minimum} characters`
  if (origin === 'array') return `must have at least ${minimum} elements`
  return isInclusive ? `must be at least ${minimum}` : `must be greater than ${minimum}`
}

const describeMaximum = (origin: string, maximum: number, isInclusive: boolean): string => {
  if (origin === 'string') return `must have at most ${maximum} characters`
  if (origin === 'array') return `must have at most ${maximum} elements`
  return isInclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`
}
