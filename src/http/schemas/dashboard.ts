import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { accountSettlementPage } from '../../protocol/accountSettlements.js'
import {
  accountInfo,
  keyList,
  maxRestrictions,
  restrictions,
  rotatedKey,
  usage,
} from '../../protocol/accounts.js'
import { accountAnswers, accountRequests } from './accountExamples.js'
import { answer } from './answer.js'
import { describeErrors, exemplifyErrors } from './errorBody.js'
import { accountSettlementPages } from './examples.js'
import { accountSettlementsQuery } from './settlementsQuery.js'

const readErrors = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
const writeErrors = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  ...readErrors,
] as const satisfies readonly ErrorCode[]

/** `GET /dashboard/info` */
export const infoSchema = {
  operationId: 'getAccount',
  tags: ['Accounts'],
  summary: 'What does my key allow?',
  description: 'The tier of the key, what is left of its month, and who may use it. Counts against no quota.',
  response: { 200: answer('The project of the key.', accountInfo), ...describeErrors(readErrors) },
  'x-reference': { answers: { 200: accountAnswers.info, ...exemplifyErrors(readErrors) } },
} satisfies FastifySchema

/** `GET /dashboard/keys` */
export const keysSchema = {
  operationId: 'listKeys',
  tags: ['Accounts'],
  summary: 'All keys of my e-mail address',
  description:
    'The keys of every project of the address; `current` marks the one of this request. Only that one is shown in ' +
    'full: others are masked unless `REGISTRATION` is `open`, or is `once` and the caller a program on the ' +
    'instance’s own machine or an operator (the operator’s token as bearer, the key as `X-API-Key`).',
  response: { 200: answer('The keys of the address.', keyList), ...describeErrors(readErrors) },
  'x-reference': { answers: { 200: accountAnswers.keys, ...exemplifyErrors(readErrors) } },
} satisfies FastifySchema

/** `GET /dashboard/usage` */
export const usageSchema = {
  operationId: 'getUsage',
  tags: ['Accounts'],
  summary: 'Transactions of the last seven days',
  description:
    'One entry for each of the last seven days (UTC), the oldest first; days without a transaction are 0.',
  response: { 200: answer('The last seven days.', usage), ...describeErrors(readErrors) },
  'x-reference': { answers: { 200: accountAnswers.usage, ...exemplifyErrors(readErrors) } },
} satisfies FastifySchema

const listErrors = ['INVALID_REQUEST', ...readErrors] as const satisfies readonly ErrorCode[]

/** `GET /dashboard/settlements` */
export const accountSettlementsSchema = {
  operationId: 'listMySettlements',
  tags: ['Accounts'],
  summary: 'What my key settled',
  description:
    'Pages of the settlements of the project, the newest first, each with the fee that its tier accrues; ' +
    '`nextCursor` is the `cursor` of the next page.',
  querystring: accountSettlementsQuery,
  response: { 200: answer('A page of settlements.', accountSettlementPage), ...describeErrors(listErrors) },
  'x-reference': { answers: { 200: accountSettlementPages, ...exemplifyErrors(listErrors) } },
} satisfies FastifySchema

/** `POST /dashboard/rotate` */
export const rotateSchema = {
  operationId: 'rotateKey',
  tags: ['Accounts'],
  summary: 'Replace my key',
  description:
    'Answers a new key and makes the old one invalid at once. Tier, quota, webhook, restrictions, settlements and ' +
    '`Idempotency-Key`s stay with the project. Of several rotations at once, one succeeds.',
  response: { 200: answer('The new key of the project.', rotatedKey), ...describeErrors(writeErrors) },
  'x-reference': { answers: { 200: accountAnswers.rotated, ...exemplifyErrors(writeErrors) } },
} satisfies FastifySchema

const allowed = (maxLength: number, description: string) =>
  z.array(z.string().min(1).max(maxLength)).max(maxRestrictions).meta({ description })

/** `POST /dashboard/restrictions` */
export const restrictionsSchema = {
  operationId: 'restrictKey',
  tags: ['Accounts'],
  summary: 'Say from where my key may be used',
  description:
    'Replaces both lists; an empty one allows all. A request from elsewhere is answered 403. This request ' +
    'is bound by the lists that it replaces, so mind that the new ones let you in. `allowedRef` keeps order among web ' +
    'pages; programs can claim any referrer.',
  body: z.object({
    allowedIPs: allowed(64, 'Addresses and CIDR blocks, at most 100'),
    // The longest name that DNS can carry.
    allowedRef: allowed(253, 'Hosts of `Referer` or `Origin`, at most 100'),
  }),
  response: { 200: answer('The restrictions from now on.', restrictions), ...describeErrors(writeErrors) },
  'x-reference': {
    request: accountRequests.restrictions,
    answers: { 200: accountAnswers.restrictions, ...exemplifyErrors(writeErrors) },
  },
} satisfies FastifySchema
