import type { z } from 'zod'

/** An object of untrusted JSON. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Anything else is read as an empty object. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

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

/** Our own wording for an `error` option of zod; messages defined in a schema take precedence. */
export const describeIssue = (issue: z.core.$ZodRawIssue): string => {
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
