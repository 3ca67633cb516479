import { unlimitedPaths } from '../../protocol/requestLimits.js'
import { describeErrors } from '../schemas/responses.js'

const integer = { type: 'integer', minimum: 0 } as const

export const limitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed per window', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests remaining in the window', schema: integer },
  'X-RateLimit-Reset': { description: 'End of the window, in Unix seconds', schema: integer },
  'X-RateLimit-Tier': {
    description: 'Tier of the API key; absent without a key',
    schema: { type: 'string' },
  },
} as const

const references = Object.fromEntries(
  Object.keys(limitHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

interface LimitedOperation {
  readonly responses: Readonly<Record<string, LimitedResponse>>
}

interface LimitedResponse {
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly examples?: unknown }>> | undefined
}

export const addLimits = (
  operations: Readonly<Record<string, LimitedOperation>>,
  path: string,
): Readonly<Record<string, LimitedOperation>> => {
  if (unlimitedPaths.includes(path)) return operations
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, addToOperation(operation)]),
  )
}

const addToOperation = (operation: LimitedOperation) => ({
  ...operation,
  responses: Object.fromEntries(
    Object.entries({ 429: tooManyRequests, ...operation.responses }).map(([status, response]) => [
      status,
      { ...response, headers: { ...response.headers, ...references } },
    ]),
  ),
})

const rateLimited = describeErrors(['RATE_LIMITED'])[429]

const tooManyRequests = {
  description: rateLimited?.description ?? '',
  headers: {
    'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' },
    'Retry-After': { $ref: '#/components/headers/Retry-After' },
  },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: rateLimited?.content['application/json'].examples,
    },
  },
}
