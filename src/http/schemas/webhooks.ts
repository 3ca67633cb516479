import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import {
  deliveryPage,
  deliveryStatus,
  deliveryView,
  eventPage,
  maxWebhookUrlLength,
  webhookRotated,
  webhookSet,
  webhookTested,
} from '../../protocol/webhooks.js'
import { parameters } from './paymentExamples.js'
import { describeLimit, integerText, pageLimit, pageQuery, uuidText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const writeErrors = [...keyedErrors, ...bodyErrors] as const
const itemErrors = [...keyedErrors, 'NOT_FOUND'] as const

const webhookUrl = 'https://shop.example/webhooks/payments'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

const deliveryExample = {
  id: '1f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7',
  type: 'settlement.confirmed',
  status: 'delivered',
  attempts: 1,
  createdAt: '2026-01-01T00:00:02.500Z',
  lastAttemptAt: '2026-01-01T00:00:02.900Z',
  lastStatusCode: 204,
  data: {
    id: parameters.settlementId,
    status: 'confirmed',
    scheme: 'exact',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payer: '0x18f77dd01186556F1F745E7847A4686421dEE072',
    payTo: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
    amount: '10000',
    transaction: parameters.transaction,
    createdAt: '2026-01-01T00:00:00.000Z',
    closedAt: '2026-01-01T00:00:02.500Z',
  },
}

export const setWebhookSchema = {
  operationId: 'setWebhook',
  tags: ['Webhooks'],
  summary: 'Set or remove your webhook URL',
  description: [
    'Events of your settlements, streams and intents are posted to this URL: `settlement.confirmed`, ' +
      '`settlement.failed`, `settlement.pending` (once, if it was left open) and `settlement.reorged` (its block was ' +
      'removed by a chain reorganization; it is pending again). The body is `{ id, type, timestamp, data }`; `data` ' +
      'is the settlement as `GET /v1/settlements/{id}` returned it at that moment, without `transactions` and `block`. Events of streams ' +
      '(`stream.*`) and intents (`intent.*`) have the stream or intent as data.',
    'Messages are signed according to Standard Webhooks with the `secret` in this response. Setting the same URL again ' +
      'keeps its secret; another URL gets a new one. A message without a 2xx response within 10 seconds is retried after 5 s, 30 s, ' +
      '5 min, 30 min, 2 h, 5 h and 10 h; a 410 response stops all messages until a URL is set again. Redirects are ' +
      'not followed. Messages can arrive more than once (deduplicate by `webhook-id`) and out of order.',
    'HTTPS only, ports 443 and 8443, and only hosts with public addresses, unless `WEBHOOK_ALLOW` of the instance names ' +
      'others: those may use HTTP and any port. An empty string removes the webhook.',
  ].join('\n\n'),
  body: z.object({
    webhookUrl: z
      .string()
      .max(maxWebhookUrlLength)
      .meta({ description: 'Empty to remove it', examples: [webhookUrl] }),
  }),
  response: {
    200: jsonResponse('The webhook is set or removed.', webhookSet, {
      set: { value: { webhookUrl, secret } },
      removed: { value: { webhookUrl: '' } },
    }),
    ...describeErrors(writeErrors),
  },
  'x-reference': {
    request: { set: { value: { webhookUrl } }, remove: { value: { webhookUrl: '' } } },
  },
} satisfies FastifySchema

export const testWebhookSchema = {
  operationId: 'testWebhook',
  tags: ['Webhooks'],
  summary: 'Send a test message to your webhook',
  description:
    'Sends `webhook.test` immediately, signed like every other message, and returns the response of the receiver. It ' +
    'is not retried and not logged.',
  response: {
    200: jsonResponse('The response of the receiver.', webhookTested, {
      taken: { value: { success: true, statusCode: 204, message: 'The receiver accepted the message' } },
      refused: { value: { success: false, statusCode: 500, message: 'The receiver answered 500' } },
      silent: { value: { success: false, statusCode: 0, message: 'No answer within 10 s' } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const rotateWebhookSecretSchema = {
  operationId: 'rotateWebhookSecret',
  tags: ['Webhooks'],
  summary: 'Replace the secret of your webhook',
  description:
    'For 24 hours messages carry two signatures, one per secret, so that you can replace the secret in your receiver ' +
    'without rejecting messages.',
  response: {
    200: jsonResponse('The new secret.', webhookRotated, {
      rotated: { value: { webhookUrl, secret, previousSecretUntil: '2026-01-02T00:00:00.000Z' } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const listDeliveriesSchema = {
  operationId: 'listWebhookDeliveries',
  tags: ['Webhooks'],
  summary: 'List webhook deliveries',
  description: 'Deliveries of the last 30 days, newest first, with the latest response to each.',
  querystring: pageQuery.extend({
    status: deliveryStatus.optional().meta({ description: 'Filter by status; default: all but `stored`' }),
  }),
  response: {
    200: jsonResponse('A page of deliveries.', deliveryPage, {
      page: { value: { deliveries: [deliveryExample], nextCursor: deliveryExample.id } },
      none: { value: { deliveries: [] } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

const waitSeconds = integerText(/^[0-9]{1,2}$/, 0, 30).default(0)

export const listEventsSchema = {
  operationId: 'listEvents',
  tags: ['Webhooks'],
  summary: 'Read your events as a feed',
  description: [
    'Events of your settlements, streams and intents of the last 30 days, oldest first, whether or not a webhook is set: ' +
      'no public address is needed. Pass the `cursor` of each response to the next request; a request with the same cursor returns the ' +
      'same events again (at least once; deduplicate by `id`). Without a cursor the feed starts with the oldest ' +
      'event, with `latest` after the newest one (repeat it while `hasMore`).',
    'With `wait` the response is delayed until there is an event, at most that many seconds. At most 4 requests of a ' +
      'project wait at a time, and a share of an address; beyond that 429 with `Retry-After`.',
  ].join('\n\n'),
  querystring: z.strictObject({
    cursor: z
      .string()
      .regex(/^(?:[0-9]{1,18}|latest)$/)
      .default('0')
      .meta({ description: '`cursor` of the previous response, or `latest`', examples: ['latest'] }),
    limit: pageLimit.default(50).meta(describeLimit('Page size', 50)),
    wait: waitSeconds.meta({
      description: 'Seconds to wait for an event, 0 to 30; default 0',
      examples: [25],
    }),
    settlementId: uuidText
      .optional()
      .meta({ description: 'Only events of this settlement; default: of all' }),
  }),
  response: {
    200: jsonResponse('A page of events.', eventPage, {
      page: {
        value: {
          events: [
            {
              id: deliveryExample.id,
              type: deliveryExample.type,
              timestamp: deliveryExample.createdAt,
              data: deliveryExample.data,
            },
          ],
          cursor: '18',
          hasMore: false,
        },
      },
      none: { value: { events: [], cursor: '18', hasMore: false } },
    }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const redeliverSchema = {
  operationId: 'redeliverWebhook',
  tags: ['Webhooks'],
  summary: 'Redeliver a message',
  description:
    'Schedules the message for immediate delivery to the current URL with the same `webhook-id`. Failures are retried ' +
    'like those of a new message.',
  params: z.object({
    id: uuidText.meta({ examples: [deliveryExample.id] }),
  }),
  response: {
    200: jsonResponse('The delivery, now due.', deliveryView, {
      due: {
        value: {
          ...deliveryExample,
          status: 'waiting',
          attempts: 0,
          nextAttemptAt: '2026-01-01T00:10:00.000Z',
        },
      },
    }),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema
