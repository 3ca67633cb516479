import type { ChannelEvent } from '../../protocol/channels.js'
import type { HeldStatus } from '../../protocol/heldPayments.js'
import type { StreamEvent } from '../../protocol/streams.js'
import { mapValues } from './shareComponents.js'

const settlementEvents = {
  'settlement.confirmed': 'The payment is proven: the recipient has the funds.',
  'settlement.failed': 'The payment failed permanently: no funds moved, and by this settlement none will.',
  'settlement.pending': 'A settlement was left open; at most once per settlement.',
  'settlement.reorged': 'The chain dropped the block of the payment; it is pending again.',
} as const

const streamEvents = {
  'stream.opened': 'The payment of a stream is held.',
  'stream.paused': 'Updates are refused until it is resumed.',
  'stream.resumed': 'Updates are taken again.',
  'stream.closed': 'The final amount is settled.',
  'stream.failed': 'The stream was not settled, and never will be.',
  'stream.expired': 'The time of the stream passed and nothing was used.',
  'stream.insufficient_funds': 'What was used could not be settled now; see `risk`.',
  'stream.funds_restored': 'What was used could be settled again.',
} as const satisfies Record<StreamEvent, string>

const channelEvents = {
  'channel.withdrawal_requested': 'The payer withdraws from a channel; once for each withdrawal.',
  'channel.near_cap': 'The ceiling has reached 90 % of what the channel holds; once for each balance.',
  'channel.unclaimable': 'The voucher of a channel was refused too often, and is set aside.',
} as const satisfies Record<ChannelEvent, string>

const intentEvents = {
  'intent.created': 'An intent was created.',
  'intent.routed': 'A route was selected, or a payment ended before anything was sent.',
  'intent.executing': 'A payment of the intent is about to be sent.',
  'intent.completed': 'The payment is proven: the payee has the funds.',
  'intent.failed': 'The payment failed permanently: no funds moved.',
  'intent.expired': 'Its time was over before it was paid.',
  'intent.cancelled': 'It was cancelled.',
} as const

const holdEvents = {
  'hold.pending': 'The block of a hold was dropped; it is sent again.',
  'hold.held': 'The payment is held, and can be captured.',
  'hold.captured': 'All of it was captured.',
  'hold.voided': 'What was not captured was returned to the payer.',
  'hold.expiring': 'The capture deadline is near; at most once per hold.',
  'hold.deadline_action_failed':
    'What `atDeadline` asks for has failed twice in a row; it is tried again until the deadline.',
  'hold.expired': 'The capture deadline has passed: the payer can take back what is left.',
  'hold.reclaimed': 'The payer took back what was left.',
  'hold.failed': 'The payment was never held.',
} as const satisfies Record<`hold.${HeldStatus | 'expiring' | 'deadline_action_failed'}`, string>

const settlementData = {
  allOf: [
    { $ref: '#/components/schemas/Settlement' },
    {
      type: 'object',
      properties: {
        resource: {
          type: 'string',
          description: 'URL of what was paid for, where the payment names it',
        },
        idempotencyKey: {
          type: 'string',
          description: "Of the request that received the success, or had a channel's sweep made",
        },
        operationalCode: { $ref: '#/components/schemas/OperationalCode' },
        retryable: {
          type: 'boolean',
          description: 'With a reason: whether the same request may succeed later',
        },
      },
    },
  ],
}

const describeBody = (data: object) => ({
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The header `webhook-id`' },
    type: { type: 'string' },
    timestamp: { type: 'string', format: 'date-time' },
    data,
  },
  required: ['id', 'type', 'timestamp', 'data'],
})

/** Components that the bodies of webhooks refer to. */
export const eventSchemas = {
  SettlementEvent: describeBody(settlementData),
  IntentEvent: describeBody({ $ref: '#/components/schemas/Intent' }),
  ChannelEvent: describeBody({
    allOf: [
      { $ref: '#/components/schemas/Channel' },
      {
        type: 'object',
        properties: {
          errorReason: { type: 'string', description: 'Why the voucher cannot be claimed' },
        },
      },
    ],
  }),
  HoldEvent: describeBody({
    allOf: [
      { $ref: '#/components/schemas/HeldPayment' },
      {
        type: 'object',
        properties: {
          automatic: {
            type: 'boolean',
            description:
              'In `hold.captured` and `hold.voided`: whether `atDeadline` asked for it, and no request',
          },
          errorReason: { type: 'string', description: 'In `hold.deadline_action_failed`: why, as a reason' },
          errorMessage: { type: 'string', description: 'In `hold.deadline_action_failed`: why' },
        },
      },
    ],
  }),
  StreamEvent: describeBody({ $ref: '#/components/schemas/Stream' }),
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const describeEvent = (type: string, description: string, schema: keyof typeof eventSchemas) => ({
  post: {
    operationId: type.replaceAll(/[._](.)/g, (_dot, letter: string) => letter.toUpperCase()),
    tags: ['Webhooks'],
    summary: type,
    description,
    security: [],
    parameters: [
      header('webhook-id', 'The same for every delivery of the event'),
      header('webhook-timestamp', 'Unix time in seconds'),
      header(
        'webhook-signature',
        'Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret',
      ),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [
              { $ref: `#/components/schemas/${schema}` },
              { type: 'object', properties: { type: { const: type } } },
            ],
          },
        },
      },
    },
    responses: {
      '2XX': { description: 'Received. Any other response is retried for about 17 hours.' },
      '410': { description: 'Ends all deliveries until a URL is set again.' },
    },
  },
})

/** The `webhooks` section of the document. */
export const webhooks = {
  ...mapValues(settlementEvents, (text, type) => describeEvent(type, text, 'SettlementEvent')),
  ...mapValues(intentEvents, (text, type) => describeEvent(type, text, 'IntentEvent')),
  ...mapValues(channelEvents, (text, type) => describeEvent(type, text, 'ChannelEvent')),
  ...mapValues(holdEvents, (text, type) => describeEvent(type, text, 'HoldEvent')),
  ...mapValues(streamEvents, (text, type) => describeEvent(type, text, 'StreamEvent')),
}
