import { unlimitedPaths } from '../protocol/requestLimits.js'
import { describeErrors, exemplifyErrors } from './schemas/errorBody.js'

const integer = { type: 'integer', minimum: 0 } as const

/** The headers by which an answer tells of the window with the least remaining. */
export const limitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests that the window allows', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests that are left of it', schema: integer },
  'X-RateLimit-Reset': { description: 'When it ends, in Unix seconds', schema: integer },
  'X-RateLimit-Tier': {
    description: 'The tier of the API key; absent without one',
    schema: { type: 'string' },
  },
} as const

const references = Object.fromEntries(
  Object.keys(limitHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** A part of an operation that limits say something of. */
interface Limitable {
  readonly responses: Readonly<Record<string, { readonly headers: Readonly<Record<string, unknown>> }>>
}

/** Adds to the operations of a path what limits make of their answers: the headers, and 429. */
export const addLimits = (operations: Readonly<Record<string, Limitable>>, path: string) => {
  if (unlimitedPaths.includes(path)) return operations
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, addToOperation(operation)]),
  )
}

const addToOperation = (operation: Limitable) => ({
  ...operation,
  responses: Object.fromEntries(
    Object.entries({ 429: tooMany, ...operation.responses }).map(([status, answer]) => [
      status,
      { ...answer, headers: { ...answer.headers, ...references } },
    ]),
  ),
})

const tooMany = {
  description: describeErrors(['RATE_LIMITED'])[429]?.description ?? '',
  headers: {
    'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' },
    'Retry-After': { $ref: '#/components/headers/Retry-After' },
  },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: exemplifyErrors(['RATE_LIMITED'])[429],
    },
  },
}
