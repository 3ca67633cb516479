import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { auditPage, createdKey, keyScopes, namedKeyList, revokedKey } from '../../protocol/accounts.js'
import { pageQuery, uuidText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors, storeErrors } from './responses.js'

const createErrors = [...keyedErrors, ...bodyErrors] as const satisfies readonly ErrorCode[]
const revokeErrors = [...keyedErrors, 'NOT_FOUND'] as const satisfies readonly ErrorCode[]

const keyExample = {
  id: '5b0f7c52-8f5e-4a0e-9a55-2f1c4c7f9f10',
  name: 'Checkout server',
  scopes: ['verify', 'settle'],
  status: 'active',
  isPrimary: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2027-01-01T00:00:00.000Z',
  lastUsedAt: null,
}
const apiKey = 'qtn_sk_live_J8Z3mQvX1c5LrT0uYb7NhWq2KdPfGs4oEiAaCxB6tVk1x2y3z'

export const listApiKeysSchema = {
  operationId: 'listApiKeys',
  tags: ['Accounts'],
  summary: 'Keys of my project',
  description:
    'All keys of the project that can be used or have expired, without the keys themselves. `GET /dashboard/keys` ' +
    'lists the primary keys of all projects of the address.',
  response: {
    200: jsonResponse('The keys of the project.', namedKeyList, {
      keys: { value: { keys: [{ ...keyExample, current: false }] } },
    }),
    ...describeErrors(storeErrors),
  },
} satisfies FastifySchema

export const createApiKeySchema = {
  operationId: 'createApiKey',
  tags: ['Accounts'],
  summary: 'Create a further key',
  description:
    'A key with its own name, scopes and expiry, shown only in this response. It shares tier, quota, restrictions, ' +
    'webhook and settlements of the project, and has no scope that the key of this request lacks. Scopes: `verify` ' +
    'and `settle` for these endpoints, `read` for GET requests of the dashboard, `manage` for its changes. A project ' +
    'has at most 50 valid keys.',
  body: z.object({
    name: z.string().min(1).max(400).meta({ description: '1 to 100 visible characters' }),
    scopes: z
      .array(z.enum(keyScopes))
      .min(1)
      .max(keyScopes.length)
      .optional()
      .meta({ description: 'Default: the scopes of the key of this request' }),
    expiresAt: z.iso.datetime({ offset: true }).optional().meta({ description: 'Default: never' }),
  }),
  response: {
    201: jsonResponse('The new key.', createdKey, { created: { value: { ...keyExample, apiKey } } }),
    ...describeErrors(createErrors),
  },
  'x-reference': {
    request: {
      limited: {
        value: { name: keyExample.name, scopes: keyExample.scopes, expiresAt: keyExample.expiresAt },
      },
      full: { value: { name: 'Second server' } },
    },
  },
} satisfies FastifySchema

export const revokeApiKeySchema = {
  operationId: 'revokeApiKey',
  tags: ['Accounts'],
  summary: 'Revoke a key of my project',
  description:
    'Invalidates the key immediately, also one that is retiring after a rotation. The primary key cannot be revoked, ' +
    'only rotated.',
  params: z.object({
    id: uuidText.meta({ examples: [keyExample.id] }),
  }),
  response: {
    200: jsonResponse('The key is revoked.', revokedKey, {
      revoked: { value: { id: keyExample.id, revoked: true } },
    }),
    ...describeErrors(revokeErrors),
  },
} satisfies FastifySchema

export const readAuditSchema = {
  operationId: 'readAudit',
  tags: ['Accounts'],
  summary: 'Changes to my project',
  description:
    'Every change to keys, webhook, restrictions, recipients and tier of the project, newest first: when, by which ' +
    'key or operator, and from which address. Kept for 400 days.',
  querystring: pageQuery,
  response: {
    200: jsonResponse('A page of changes.', auditPage, {
      page: {
        value: {
          entries: [
            {
              id: '0d0c5f0a-4b65-4a25-8f63-9f5f5ec0a1ce',
              createdAt: '2026-01-01T00:00:00.000Z',
              action: 'key.created',
              actor: 'key Default (2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11)',
              address: '203.0.113.7',
              details: { key: keyExample.name, keyId: keyExample.id, scopes: ['verify', 'settle'] },
            },
          ],
        },
      },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema
