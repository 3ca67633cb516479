import { unlimitedPaths } from '../../protocol/requestLimits.js'

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
export const listHeaders = (path: string, status: string, own: Readonly<Record<string, unknown>> = {}) => ({
  ...refer('X-Request-ID'),
  ...(retryableStatuses.includes(status) ? refer('Retry-After') : {}),
  ...(status === '401' ? refer('WWW-Authenticate') : {}),
  ...own,
  ...(unlimitedPaths.includes(path) ? {} : limitReferences),
})
