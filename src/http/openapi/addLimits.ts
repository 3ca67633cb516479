import { unlimitedPaths } from '../../protocol/requestLimits.js'
import { describeErrors } from '../schemas/responses.js'
import { mapValues } from './mapValues.js'

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

const references = mapValues(limitHeaders, (_header, name) => ({ $ref: `#/components/headers/${name}` }))

interface LimitedResponse {
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema?: unknown; readonly examples?: unknown }>>
}

/** To every response of a path that has limits. */
export const addLimits = (
  responses: Readonly<Record<string, LimitedResponse>>,
  path: string,
): Readonly<Record<string, LimitedResponse>> => {
  if (unlimitedPaths.includes(path)) return responses
  return mapValues({ 429: tooManyRequests, ...responses }, (response) => ({
    ...response,
    headers: { ...response.headers, ...references },
  }))
}

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
