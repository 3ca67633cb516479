import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { tierName } from '../../protocol/accounts.js'
import {
  operatorAccountPage,
  operatorAccountView,
  operatorAuditPage,
  operatorName,
  pauseCleared,
  pauseList,
  pauseRequest,
  pauseSet,
  pauseTarget,
} from '../../protocol/operator.js'
import { callerReport, operatorOverview } from '../../protocol/operatorOverview.js'
import { deliveryView } from '../../protocol/webhooks.js'
import {
  accountExample,
  auditExample,
  callersExample,
  networkPause,
  overviewExample,
} from './operatorExamples.js'
import { describeLimit, limitText, pageQuery, uuidText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const itemErrors = [...keyedErrors, 'NOT_FOUND'] as const
const changeErrors = [...itemErrors, ...bodyErrors] as const

const accountParams = z.object({ id: uuidText.meta({ examples: [accountExample.id] }) })
const noQuery = z.strictObject({})

const mostCallers = 100

export const overviewSchema = {
  operationId: 'readOverview',
  tags: ['Operators'],
  summary: 'How the service is doing',
  description:
    '`instance`: what the instance that answers knows of its networks, endpoints, signers, pools and jobs, from memory. ' +
    '`shared`: what all instances on one database have in common; parts that cannot be read within 1.5 s are null. At most ' +
    'one overview is read a second, however many ask.',
  querystring: noQuery,
  response: {
    200: jsonResponse('The overview.', operatorOverview, { overview: { value: overviewExample } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const callersSchema = {
  operationId: 'readCallers',
  tags: ['Operators'],
  summary: 'Who asks, is refused and occupies the service most',
  description:
    'Of the last hour, of the instance that answers, since its start. Callers are accounts, or addresses of callers without ' +
    'a valid key. Probes, requests of operators and requests that are refused before they are read are not counted.',
  querystring: z.strictObject({
    limit: limitText(mostCallers)
      .default(20)
      .meta(describeLimit('Callers in each list', 20, mostCallers)),
  }),
  response: {
    200: jsonResponse('Three lists of callers.', callerReport, { callers: { value: callersExample } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const searchAccountsSchema = {
  operationId: 'searchAccounts',
  tags: ['Operators'],
  summary: 'Find accounts',
  description:
    'By id, or by the beginning of the e-mail address, in any case. Without `search`: all of them.',
  querystring: pageQuery.extend({
    search: z
      .string()
      .trim()
      .max(254)
      .default('')
      .meta({ description: 'An account id, or the beginning of an e-mail address', examples: ['ada@'] }),
  }),
  response: {
    200: jsonResponse('A page of accounts.', operatorAccountPage, {
      page: { value: { accounts: [accountExample] } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const setTierSchema = {
  operationId: 'setTier',
  tags: ['Operators'],
  summary: 'Grant a tier',
  description: 'As `admin keys set-tier`. Holds on all instances within two seconds.',
  querystring: noQuery,
  params: accountParams,
  body: z.strictObject({ tier: tierName.meta({ examples: ['scale'] }) }),
  response: {
    200: jsonResponse('The account with its tier.', operatorAccountView, {
      account: { value: { ...accountExample, tier: 'scale' } },
    }),
    ...describeErrors(changeErrors),
  },
  'x-reference': { request: { scale: { value: { tier: 'scale' } } } },
} satisfies FastifySchema

export const revokeAccountSchema = {
  operationId: 'revokeAccount',
  tags: ['Operators'],
  summary: 'Revoke an account and all its keys',
  description:
    'As `admin keys revoke`. It cannot be undone. What the account has sent is settled, and its events are delivered.',
  querystring: noQuery,
  params: accountParams,
  response: {
    200: jsonResponse('The account, which is revoked.', operatorAccountView, {
      account: { value: { ...accountExample, status: 'revoked', keys: 0 } },
    }),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const listPausesSchema = {
  operationId: 'listPauses',
  tags: ['Operators'],
  summary: 'What is paused',
  description: 'All pauses, as they are stored for all instances, the oldest first.',
  querystring: noQuery,
  response: {
    200: jsonResponse('The pauses.', pauseList, { pauses: { value: { pauses: [networkPause] } } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const setPauseSchema = {
  operationId: 'setPause',
  tags: ['Operators'],
  summary: 'Pause a network, a scheme, a recipient or an account',
  description:
    'New payments are refused with `SERVICE_UNAVAILABLE`, `Retry-After` and the reason, on all instances within two ' +
    'seconds, also after restarts. What was promised or sent goes on: settlements are resolved, held funds can be settled, ' +
    'streams close, and earlier answers are repeated. The same request again changes nothing.',
  querystring: noQuery,
  body: pauseRequest,
  response: {
    200: jsonResponse('The pause, as it is stored.', pauseSet, {
      set: { value: { pause: networkPause, changed: true } },
    }),
    ...describeErrors(changeErrors),
  },
  'x-reference': {
    request: {
      network: {
        value: { target: networkPause.target, reason: networkPause.reason, by: networkPause.by },
      },
      account: {
        value: {
          target: { kind: 'account', accountId: accountExample.id },
          reason: 'Write to support',
        },
      },
    },
  },
} satisfies FastifySchema

const text = z.string().min(1).max(128).optional()

const clearQuery = z
  .strictObject({
    kind: z.enum(['network', 'scheme', 'recipient', 'account']).meta({
      description: 'What is paused; the other parameters name it as in the pause',
      examples: ['network'],
    }),
    network: text.meta({ examples: ['eip155:8453'] }),
    scheme: text,
    payTo: text,
    accountId: text,
    by: operatorName.optional(),
  })
  .transform(({ by, ...given }, context) => {
    const target = pauseTarget.safeParse(given)
    if (target.success) return { by, target: target.data }
    for (const { message, path } of target.error.issues) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
    return z.NEVER
  })

export const clearPauseSchema = {
  operationId: 'clearPause',
  tags: ['Operators'],
  summary: 'Resume what is paused',
  description: 'Ends a pause on all instances within two seconds. The same request again changes nothing.',
  querystring: clearQuery,
  response: {
    200: jsonResponse('What is still paused.', pauseCleared, {
      cleared: { value: { cleared: true, pauses: [] } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const operatorRedeliverSchema = {
  operationId: 'redeliverForAccount',
  tags: ['Operators'],
  summary: 'Redeliver a message of any account',
  description:
    'As the owner of the account can; it counts against the 60 redeliveries a minute of the account.',
  querystring: z.strictObject({ by: operatorName.optional() }),
  params: z.object({ id: uuidText.meta({ examples: ['018f6f3c-1e6f-4b4a-939b-0e0d6f7c9a1b'] }) }),
  response: {
    200: jsonResponse('The delivery, now due.', deliveryView, {
      due: {
        value: {
          id: '018f6f3c-1e6f-4b4a-939b-0e0d6f7c9a1b',
          type: 'settlement.confirmed',
          status: 'waiting',
          attempts: 0,
          createdAt: '2026-01-01T00:00:00.000Z',
          nextAttemptAt: '2026-01-01T00:10:00.000Z',
          data: { settlementId: '9401b76e-f466-496f-8524-886a61ebf067' },
        },
      },
    }),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const operatorAuditSchema = {
  operationId: 'readOperatorAudit',
  tags: ['Operators'],
  summary: 'What operators did',
  description:
    'Pauses, redeliveries and changes to accounts, by this API and by the commands on the server, newest first, of the last ' +
    '90 days.',
  querystring: pageQuery,
  response: {
    200: jsonResponse('A page of actions.', operatorAuditPage, { page: { value: auditExample } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema
