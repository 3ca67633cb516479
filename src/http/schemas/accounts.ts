import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { lookupResult, registerResult } from '../../protocol/accounts.js'
import { maskedApiKey } from '../../usecases/dashboard/apiKey.js'
import { describeErrors, jsonResponse, openErrors } from './responses.js'

/* The keys have the right format and are valid on no instance. */

const apiKey = `qtn_sk_${'00112233445566778899aabbccddeeff'.repeat(2)}`
const newKey = `qtn_sk_${'ffeeddccbbaa99887766554433221100'.repeat(2)}`

const quota = {
  limit: 1_000,
  period: 'monthly',
  used: 42,
  tier: 'free',
  feeRate: 0,
  resetsAt: '2026-02-01T00:00:00.000Z',
} as const

const listed = {
  apiKey,
  project: 'Report shop',
  tier: 'free',
  status: 'active',
  createdAt: '2026-01-01T00:00:00.000Z',
} as const

export const accountRequests = {
  register: { project: { value: { email: 'ada@example.com', projectName: 'Report shop' } } },
  lookup: { address: { value: { email: 'ada@example.com' } } },
  restrictions: {
    open: { summary: 'No restrictions', value: { allowedIPs: [], allowedRef: [] } },
    restricted: {
      summary: 'Two networks, and pages of one host',
      value: { allowedIPs: ['203.0.113.7', '2001:db8::/48'], allowedRef: ['shop.example.com'] },
    },
  },
} as const

export const accountResponses = {
  registered: {
    created: {
      summary: 'A new key',
      value: { apiKey, projectName: 'Report shop', quota: { ...quota, used: 0 }, isNew: true },
    },
  },
  registeredBefore: {
    known: {
      summary: 'The existing key of the project',
      value: { apiKey, projectName: 'Report shop', quota, isNew: false },
    },
    masked: {
      summary: 'The same, to a caller who may not see it',
      value: { apiKey: maskedApiKey, projectName: 'Report shop', quota: { ...quota, used: 0 }, isNew: false },
    },
  },
  lookup: {
    found: { value: { email: 'ada@example.com', keys: [listed] } },
    masked: {
      summary: 'The same, to a caller who may not see it',
      value: { email: 'ada@example.com', keys: [{ ...listed, apiKey: maskedApiKey }] },
    },
  },
  info: {
    info: {
      value: {
        tier: 'free',
        config: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0 },
        quota,
        email: 'ada@example.com',
        project: 'Report shop',
        status: 'active',
        createdAt: '2026-01-01T00:00:00.000Z',
        webhookUrl: '',
        allowedIPs: ['203.0.113.7', '2001:db8::/48'],
        allowedRef: null,
      },
    },
  },
  keys: { keys: { value: { email: 'ada@example.com', keys: [{ ...listed, current: true }] } } },
  usage: {
    week: {
      value: {
        days: 7,
        usage: [3, 0, 0, 12, 27, 0, 0].map((count, day) => ({ date: `2026-01-0${day + 1}`, count })),
      },
    },
  },
  rotated: {
    rotated: {
      value: { apiKey: newKey, project: 'Report shop', message: 'The old key is now invalid' },
    },
  },
  restrictions: {
    restricted: { value: accountRequests.restrictions.restricted.value },
    open: { value: accountRequests.restrictions.open.value },
  },
  keyCount: { count: { value: { totalKeys: 128 } } },
} as const

// The use case validates the content; these bounds only limit the length.
const email = z
  .string()
  .min(1)
  .max(1_000)
  .meta({ format: 'email', description: 'At most 254 characters; case-insensitive' })
const projectName = z.string().min(1).max(1_000).meta({ description: '1 to 100 visible characters' })

const countErrors = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const satisfies readonly ErrorCode[]

export const registerSchema = {
  operationId: 'registerKey',
  tags: ['Accounts'],
  summary: 'Get an API key for a project',
  description: [
    'A project of an e-mail address has one key. If the project already exists (the address is case-insensitive), ' +
      'the response contains its existing key, with 200 instead of 201.',
    'Store the key of a 201. `REGISTRATION` of the instance decides who can see it again. `once` (the default): ' +
      'programs on its own machine and callers with the operator token; for all others it is masked ' +
      '(`qtn_sk_********`), and `quota.used` is 0. `open`: every caller. `verified`: the key is sent to the address by ' +
      'mail; the response shows it masked and does not reveal whether the address is known.',
  ].join('\n\n'),
  body: z.object({ email, projectName }),
  response: {
    200: jsonResponse('The existing key of the project.', registerResult, accountResponses.registeredBefore),
    201: jsonResponse('The new key of the project.', registerResult, accountResponses.registered),
    ...describeErrors(openErrors),
  },
  'x-reference': {
    request: accountRequests.register,
  },
} satisfies FastifySchema

export const lookupSchema = {
  operationId: 'lookUpKeys',
  tags: ['Accounts'],
  summary: 'Recover the keys of an e-mail address',
  description:
    'The keys of all projects of the address. `REGISTRATION` of the instance decides who sees them in full. ' +
    '`once` (the default): programs on its own machine and callers with the operator token; for all others they are ' +
    'masked. `open`: every caller. `verified`: they are sent to the address by mail, and the response is the same ' +
    'whether it is known or not.',
  body: z.object({ email }),
  response: {
    200: jsonResponse('The keys of the address.', lookupResult, accountResponses.lookup),
    ...describeErrors(openErrors),
  },
  'x-reference': {
    request: accountRequests.lookup,
  },
} satisfies FastifySchema

export const keyCountSchema = {
  operationId: 'countKeys',
  tags: ['Service'],
  summary: 'Number of registered API keys',
  description: 'Currently valid keys: a project counts once, however often its key was rotated.',
  response: {
    200: jsonResponse('The number of keys.', z.object({ totalKeys: z.int() }), accountResponses.keyCount),
    ...describeErrors(countErrors),
  },
} satisfies FastifySchema
