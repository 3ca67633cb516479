import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  accountInfo,
  accountSettlementPage,
  keyList,
  maxRestrictions,
  restrictions,
  rotatedKey,
  usage,
} from '../../protocol/accounts.js'
import { accountRequests, accountResponses } from './accounts.js'
import { accountSettlementPages } from './paymentExamples.js'
import { accountSettlementsQuery, integerText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const writeErrors = [...bodyErrors, ...keyedErrors] as const satisfies readonly ErrorCode[]

export const infoSchema = {
  operationId: 'getAccount',
  tags: ['Accounts'],
  summary: 'Tier, quota and restrictions of my key',
  description: 'Tier, remaining monthly quota and restrictions of the key. Does not count against the quota.',
  response: {
    200: jsonResponse('The project of the key.', accountInfo, accountResponses.info),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const keysSchema = {
  operationId: 'listKeys',
  tags: ['Accounts'],
  summary: 'All keys of my e-mail address',
  description:
    'The keys of every project of the address; `current` marks the one of this request. Only that one is shown in ' +
    'full: others are masked unless `REGISTRATION` is `open`, or is `once` and the caller a program on the ' +
    'instance’s own machine or an operator (the operator’s token as bearer, the key as `X-API-Key`).',
  response: {
    200: jsonResponse('The keys of the address.', keyList, accountResponses.keys),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const usageSchema = {
  operationId: 'getUsage',
  tags: ['Accounts'],
  summary: 'Transactions of the last seven days',
  description:
    'One entry for each of the last seven days (UTC), oldest first; days without a transaction are 0. With `hours`, ' +
    'also the settlements of so many hours: outcomes, amounts by token, and the median time to confirmation.',
  querystring: z.strictObject({
    hours: integerText(/^[0-9]{1,3}$/, 1, 168)
      .optional()
      .meta({ description: 'Adds `settlements` of the last 1 to 168 hours', examples: [24] }),
  }),
  response: {
    200: jsonResponse('The last seven days.', usage, accountResponses.usage),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const accountSettlementsSchema = {
  operationId: 'listMySettlements',
  tags: ['Accounts'],
  summary: 'Settlements of my project',
  description:
    'Pages of settlements, newest first, each with the fee accrued under its tier; ' +
    'pass `nextCursor` as `cursor` to get the next page.',
  querystring: accountSettlementsQuery,
  response: {
    200: jsonResponse('A page of settlements.', accountSettlementPage, accountSettlementPages),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const rotateSchema = {
  operationId: 'rotateKey',
  tags: ['Accounts'],
  summary: 'Replace my key',
  description:
    'Returns a new key with the name, scopes and expiry of the old one, and invalidates the old one: immediately, or ' +
    'with `graceSeconds` later (until then without the scope `manage`). Tier, quota, webhook, restrictions, ' +
    'settlements and `Idempotency-Key`s stay with the project. Of concurrent rotations, one succeeds.',
  querystring: z.strictObject({
    graceSeconds: integerText(/^[0-9]{1,6}$/, 0, 604_800)
      .default(0)
      .meta({ description: 'How long the old key stays valid, at most 604800 (7 days)', examples: [3600] }),
  }),
  response: {
    200: jsonResponse('The new key of the project.', rotatedKey, accountResponses.rotated),
    ...describeErrors(writeErrors),
  },
} satisfies FastifySchema

const allowed = (maxLength: number, description: string) =>
  z.array(z.string().min(1).max(maxLength)).max(maxRestrictions).nullable().optional().meta({ description })

export const restrictionsSchema = {
  operationId: 'restrictKey',
  tags: ['Accounts'],
  summary: 'Restrict where my key may be used',
  description:
    'Takes `allowedIPs` and `allowedRef` as `GET /dashboard/info` returns them. A list that is absent stays as it is; ' +
    'null and an empty list allow all. Requests from elsewhere receive 403, which names the address that was seen. An ' +
    '`allowedIPs` without the address of this request is refused unless `force` is true. `allowedRef` restricts web ' +
    'pages only; other clients can send any referrer.',
  body: z.object({
    allowedIPs: allowed(64, 'Addresses and CIDR blocks, at most 100'),
    allowedRef: allowed(253, 'Hosts of `Referer` or `Origin`, at most 100'),
    force: z
      .boolean()
      .optional()
      .meta({ description: 'Accept an `allowedIPs` that excludes the address of this request' }),
  }),
  response: {
    200: jsonResponse('The new restrictions.', restrictions, accountResponses.restrictions),
    ...describeErrors(writeErrors),
  },
  'x-reference': {
    request: accountRequests.restrictions,
  },
} satisfies FastifySchema
