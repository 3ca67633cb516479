import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { lookedUp, registered } from '../../protocol/accounts.js'
import { accountAnswers, accountRequests } from './accountExamples.js'
import { answer } from './answer.js'
import { describeErrors, exemplifyErrors } from './errorBody.js'

// What these texts may hold is the use case's to say; here they only have an end.
const email = z
  .string()
  .min(1)
  .max(1_000)
  .meta({ format: 'email', description: 'At most 254 characters; compared without letter case' })
const projectName = z.string().min(1).max(1_000).meta({ description: '1 to 100 visible characters' })

const openErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
const countErrors = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const satisfies readonly ErrorCode[]

/** `POST /register` */
export const registerSchema = {
  operationId: 'registerKey',
  tags: ['Accounts'],
  summary: 'Get an API key for a project',
  description: [
    'A project of an e-mail address has one key. Asked again for the same project (letter case of the address does ' +
      'not matter), the answer names the key that it has, with 200 in place of 201.',
    'Keep the key of a 201. The instance’s `REGISTRATION` decides who is shown it again. `once` (the default): ' +
      'programs on its own machine and callers with the operator’s token; to all others it is masked ' +
      '(`qtn_sk_********`), and `quota.used` is 0. `open`: every caller. `verified`: the key goes to the address by ' +
      'mail, and the answer, which does not say whether the address is known, shows it masked.',
  ].join('\n\n'),
  body: z.object({ email, projectName }),
  response: {
    200: answer('The key that the project has already.', registered),
    201: answer('A new key, the first of the project.', registered),
    ...describeErrors(openErrors),
  },
  'x-reference': {
    request: accountRequests.register,
    answers: {
      200: accountAnswers.registeredBefore,
      201: accountAnswers.registered,
      ...exemplifyErrors(openErrors),
    },
  },
} satisfies FastifySchema

/** `POST /lookup` */
export const lookupSchema = {
  operationId: 'lookUpKeys',
  tags: ['Accounts'],
  summary: 'Recover the keys of an e-mail address',
  description:
    'The keys of all projects of the address. `REGISTRATION` of the instance decides who is shown them in full. ' +
    '`once` (the default): programs on its own machine and callers with the operator’s token; to all others they are ' +
    'masked. `open`: every caller. `verified`: they go to the address by mail, and the answer is the same whether it ' +
    'is known or not.',
  body: z.object({ email }),
  response: { 200: answer('The keys of the address.', lookedUp), ...describeErrors(openErrors) },
  'x-reference': {
    request: accountRequests.lookup,
    answers: { 200: accountAnswers.lookup, ...exemplifyErrors(openErrors) },
  },
} satisfies FastifySchema

/** `GET /stats/keys` */
export const keyCountSchema = {
  operationId: 'countKeys',
  tags: ['Service'],
  summary: 'How many API keys are registered',
  description:
    'Keys that are valid at this moment: a project counts once, however often its key was rotated.',
  response: {
    200: answer('How many there are.', z.object({ totalKeys: z.int() })),
    ...describeErrors(countErrors),
  },
  'x-reference': { answers: { 200: accountAnswers.keyCount, ...exemplifyErrors(countErrors) } },
} satisfies FastifySchema
