import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  deliveryPage,
  deliveryView,
  maxWebhookUrlLength,
  webhookRotated,
  webhookSet,
  webhookTested,
} from '../../protocol/webhooks.js'
import { answer } from './answer.js'
import { describeErrors, exemplifyErrors } from './errorBody.js'
import { parameters } from './examples.js'

const readErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
const writeErrors = [...readErrors, 'REQUEST_TIMEOUT', 'REQUEST_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const
const oneErrors = [...readErrors, 'NOT_FOUND'] as const

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

/** `POST /dashboard/webhook` */
export const setWebhookSchema = {
  operationId: 'setWebhook',
  tags: ['Webhooks'],
  summary: 'Set or remove the address of your webhook',
  description: [
    'From then on a message is posted there for each of your settlements that is `settlement.confirmed`, ' +
      '`settlement.failed`, `settlement.pending` (once, where it was left open) or `settlement.reorged` (the network ' +
      'took its block back; it is pending again). The body is `{ id, type, timestamp, data }`; `data` is the ' +
      'settlement as `GET /v1/settlements/{id}` showed it at that moment.',
    'Messages are signed after Standard Webhooks with the `secret` of this answer, which is shown only once. Each call ' +
      'makes a new one. A message that is not answered 2xx within 10 seconds is sent again after 5 s, 30 s, 5 min, ' +
      '30 min, 2 h, 5 h and 10 h; an answer 410 ends that, and all messages until an address is set again. ' +
      'Redirects are not followed. The same message can arrive twice (`webhook-id` tells), and a later one earlier.',
    'HTTPS only, ports 443 and 8443, and only hosts with public addresses. An empty string removes the webhook.',
  ].join('\n\n'),
  body: z.object({
    webhookUrl: z
      .string()
      .max(maxWebhookUrlLength)
      .meta({ description: 'Empty to remove it', examples: [webhookUrl] }),
  }),
  response: { 200: answer('It is set, or removed.', webhookSet), ...describeErrors(writeErrors) },
  'x-reference': {
    request: { set: { value: { webhookUrl } }, remove: { value: { webhookUrl: '' } } },
    answers: {
      200: { set: { value: { webhookUrl, secret } }, removed: { value: { webhookUrl: '' } } },
      ...exemplifyErrors(writeErrors),
    },
  },
} satisfies FastifySchema

/** `POST /dashboard/webhook/test` */
export const testWebhookSchema = {
  operationId: 'testWebhook',
  tags: ['Webhooks'],
  summary: 'Send a test message to your webhook',
  description:
    'Sends `webhook.test` at once, signed like every other message, and tells what the receiver answered. It is ' +
    'not sent again and does not stand in the log.',
  response: { 200: answer('What the receiver answered.', webhookTested), ...describeErrors(readErrors) },
  'x-reference': {
    answers: {
      200: {
        taken: { value: { success: true, statusCode: 204, message: 'The receiver took the message' } },
        refused: { value: { success: false, statusCode: 500, message: 'The receiver answered 500' } },
        silent: { value: { success: false, statusCode: 0, message: 'No answer within 10 s' } },
      },
      ...exemplifyErrors(readErrors),
    },
  },
} satisfies FastifySchema

/** `POST /dashboard/webhook/rotate` */
export const rotateWebhookSecretSchema = {
  operationId: 'rotateWebhookSecret',
  tags: ['Webhooks'],
  summary: 'Replace the secret of your webhook',
  description:
    'For 24 hours messages carry two signatures, one of each secret: a receiver that knows either of them verifies ' +
    'them, so that you can change it without losing a message.',
  response: { 200: answer('The new secret.', webhookRotated), ...describeErrors(readErrors) },
  'x-reference': {
    answers: {
      200: {
        rotated: { value: { webhookUrl, secret, previousSecretUntil: '2026-01-02T00:00:00.000Z' } },
      },
      ...exemplifyErrors(readErrors),
    },
  },
} satisfies FastifySchema

/** `GET /dashboard/webhook/deliveries` */
export const listDeliveriesSchema = {
  operationId: 'listWebhookDeliveries',
  tags: ['Webhooks'],
  summary: 'What was sent to your webhook',
  description:
    'The log of deliveries, the newest first, with the last answer to each. It reaches back 30 days.',
  querystring: z.object({
    limit: z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/)
      .transform(Number)
      .pipe(z.int().min(1).max(200))
      .default(50)
      .meta({ description: 'How many at most, 1 to 200; 50 unless told', examples: ['50'] }),
    cursor: z
      .uuid()
      .transform((text) => text.toLowerCase())
      .optional()
      .meta({ description: 'The `nextCursor` of the page before' }),
  }),
  response: { 200: answer('A page of deliveries.', deliveryPage), ...describeErrors(readErrors) },
  'x-reference': {
    answers: {
      200: {
        page: { value: { deliveries: [deliveryExample], nextCursor: deliveryExample.id } },
        none: { value: { deliveries: [] } },
      },
      ...exemplifyErrors(readErrors),
    },
  },
} satisfies FastifySchema

/** `POST /dashboard/webhook/deliveries/{id}/redeliver` */
export const redeliverSchema = {
  operationId: 'redeliverWebhook',
  tags: ['Webhooks'],
  summary: 'Send a message to your webhook again',
  description:
    'Makes it due at once, to the address that is set now and with the same `webhook-id`; where that fails, it is ' +
    'tried again as often as a new one.',
  params: z.object({
    id: z
      .uuid()
      .transform((text) => text.toLowerCase())
      .meta({ examples: [deliveryExample.id] }),
  }),
  response: { 200: answer('The delivery, which is due now.', deliveryView), ...describeErrors(oneErrors) },
  'x-reference': {
    answers: {
      200: {
        due: {
          value: {
            ...deliveryExample,
            status: 'waiting',
            attempts: 0,
            nextAttemptAt: '2026-01-01T00:10:00.000Z',
          },
        },
      },
      ...exemplifyErrors(oneErrors),
    },
  },
} satisfies FastifySchema
