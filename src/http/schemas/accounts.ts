import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { lookupResult, registerResult } from '../../protocol/accounts.js'
import { accountRequests, accountResponses } from './accountExamples.js'
import { bodyErrors } from './commonErrors.js'
import { describeErrors, jsonResponse } from './responses.js'

// The use case validates the content; these bounds only limit the length.
const email = z
  .string()
  .min(1)
  .max(1_000)
  .meta({ format: 'email', description: 'At most 254 characters; case-insensitive' })
const projectName = z.string().min(1).max(1_000).meta({ description: '1 to 100 visible characters' })

const openErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  ...bodyErrors,
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
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
