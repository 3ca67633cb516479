import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { AppError } from '../errors.js'
import { describeIssue } from '../protocol/describeIssue.js'
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

/** Escaped, so that a name cannot inject control characters or bidirectional text. */
const describeQueryIssue = (issue: z.core.$ZodRawIssue): string => {
  if (issue.code !== 'unrecognized_keys') return describeIssue(issue)
  const names = issue.keys.slice(0, maxIssues).map((name) => JSON.stringify(name.slice(0, maxNameLength)))
  return `has the unknown query parameter ${names.join(', ').replaceAll(/\p{C}/gu, '\ufffd')}`
}

const describeField = ({ path, message }: z.core.$ZodIssue, whole: string): string =>
  path.length === 0 ? `${whole} ${message}` : `${describePath(path)}: ${message}`
