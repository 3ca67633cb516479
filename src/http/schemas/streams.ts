import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { bodyLimits } from '../../protocol/requestLimits.js'
import {
  closeStreamBody,
  controlStreamBody,
  openStreamBody,
  streamAnswer,
  streamOpened,
  streamPage,
  streamStates,
  streamUpdated,
  updateStreamBody,
} from '../../protocol/streams.js'
import { uptoRequest } from './paymentExamples.js'
import { pageQuery, uuidText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const id = '6f2d8a34-5b1e-4c0f-9a57-3d3f0f6f1c21'
const payment = uptoRequest.value
const { minAmount: _, ...requirements } = payment.paymentRequirements

const active = {
  id,
  status: 'active',
  scheme: 'upto',
  network: 'eip155:84532',
  asset: requirements.asset,
  payer: payment.paymentPayload.payload.authorization.owner,
  payee: requirements.payTo,
  maxAmount: '10000',
  currentAmount: '2500',
  sequence: 7,
  updates: 7,
  vouchers: false,
  metadata: { session: 'chat-4711' },
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:01:10.000Z',
  expiresAt: '2026-01-01T00:14:00.000Z',
} as const

const channelId = `0x${'5c'.repeat(32)}`

const opened = {
  ...active,
  currentAmount: '0',
  sequence: 0,
  updates: 0,
  lastUpdatedAt: active.createdAt,
} as const

const closed = {
  ...active,
  status: 'closed',
  finalAmount: '2500',
  settledAmount: '2500',
  transaction: '0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3',
  settlementId: '9401b76e-f466-496f-8524-886a61ebf067',
  lastUpdatedAt: '2026-01-01T00:02:03.000Z',
  closedAt: '2026-01-01T00:02:03.000Z',
} as const

const voucherTypedData = {
  domain: { name: 'Quittance Stream', version: '1', chainId: 84_532 },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
    ],
    Voucher: [
      { name: 'streamId', type: 'string' },
      { name: 'amount', type: 'uint256' },
      { name: 'sequence', type: 'uint256' },
    ],
  },
  primaryType: 'Voucher',
  message: { streamId: id, amount: '0', sequence: '0' },
}

export const streamExamples = {
  id,
  stream: active,
  open: {
    permit: {
      summary: 'A permit over 10000 units',
      value: {
        paymentPayload: {
          payVersion: 2,
          accepted: requirements,
          payload: payment.paymentPayload.payload,
        },
        paymentRequirements: requirements,
        expiresAt: '2026-01-01T00:14:00Z',
        metadata: active.metadata,
      },
    },
  },
  opened: {
    withoutKey: {
      summary: 'Without a key: the token controls the stream',
      value: { stream: opened, voucherTypedData, streamToken: `qtn_stream_${'0a'.repeat(32)}` },
    },
  },
  update: {
    plain: { summary: 'By the payee', value: { streamId: id, amount: '2500', sequence: 7 } },
    voucher: {
      summary: 'Signed by the payer',
      value: {
        streamId: id,
        amount: '2500',
        sequence: 7,
        voucher: { signature: `0x${'1a'.repeat(64)}1b` },
      },
    },
    channel: {
      summary: 'Over a channel: with a higher voucher',
      value: {
        streamId: id,
        amount: '2500',
        sequence: 7,
        voucher: { channelId, maxClaimableAmount: '4000', signature: `0x${'1a'.repeat(64)}1b` },
      },
    },
  },
  close: {
    used: { summary: 'What was used', value: { streamId: id } },
    final: { summary: 'With a final amount', value: { streamId: id, finalAmount: '2500' } },
    channel: {
      summary: 'Over a channel: with the signature of your receiverAuthorizer',
      value: { streamId: id, claimAuthorizerSignature: `0x${'1a'.repeat(64)}1b` },
    },
  },
  closed: {
    settled: { summary: 'Settled', value: { stream: closed } },
    failed: {
      summary: 'The payer cancelled the authorization',
      value: {
        stream: {
          ...active,
          status: 'failed',
          finalAmount: '2500',
          lastUpdatedAt: '2026-01-01T00:02:00.000Z',
          errorReason: 'permit_nonce_mismatch',
          errorMessage: "The nonce of the permit is not the payer's current permit nonce of the token",
          closedAt: closed.closedAt,
        },
      },
    },
  },
  paused: { paused: { value: { stream: { ...active, status: 'paused' } } } },
} as const

const itemErrors = [...keyedErrors, 'NOT_FOUND'] as const
const openErrors = [
  ...keyedErrors,
  ...bodyErrors,
  'PAYMENT_REFUSED',
  'QUOTA_EXCEEDED',
  'VERIFICATION_FAILED',
] as const
const controlErrors = [...itemErrors, ...bodyErrors, 'STREAM_NOT_ACTIVE', 'STREAM_EXPIRED'] as const
const closeErrors = [...controlErrors, 'INVALID_AMOUNT', 'AMOUNT_EXCEEDED', 'INVALID_VOUCHER'] as const
const updateErrors = [...closeErrors, 'INVALID_SEQUENCE'] as const

const tags = ['Streams']
const params = z.object({ id: uuidText.meta({ examples: [streamExamples.id] }) })
const headers = z.object({
  'X-Stream-Token': z.string().optional().meta({
    description: 'Of a stream that was opened without an API key: `streamToken` of the open answer',
  }),
})

export const openStreamSchema = {
  operationId: 'openStream',
  tags,
  summary: 'Open a stream: hold a payment whose amount is metered',
  description: [
    'Verifies a payment under `upto`, by permit or Permit2, and holds its maximum: /verify and /settle refuse the ' +
      'authorization while the stream is open. Report what was used with /v1/stream/update, and settle exactly that with ' +
      '/v1/stream/close. A stream that is not closed settles what was used by itself at `expiresAt`.',
    'A `voucher` under `batch-settlement` opens a stream over its channel, which exists and is funded: nothing is held, ' +
      'updates bring higher vouchers, and the close claims what was used. It needs an API key.',
    'The same request with the same API key returns the same stream (200).',
  ].join('\n\n'),
  body: openStreamBody,
  response: {
    200: jsonResponse('The same request opened it before.', streamOpened),
    201: jsonResponse('The stream is open.', streamOpened, streamExamples.opened),
    ...describeErrors(openErrors, bodyLimits.payment),
  },
  'x-reference': {
    request: streamExamples.open,
  },
} satisfies FastifySchema

export const updateStreamSchema = {
  operationId: 'updateStream',
  tags,
  summary: 'Report what was used so far',
  description:
    'The amount is cumulative and never shrinks. The same update again has the same answer; with a `sequence`, a late ' +
    'one is refused. What was answered survives any crash. Stop the service when `canContinue` is false.',
  headers,
  body: updateStreamBody,
  response: {
    200: jsonResponse('The update is durable.', streamUpdated),
    ...describeErrors(updateErrors, bodyLimits.signIn),
  },
  'x-reference': {
    request: streamExamples.update,
  },
} satisfies FastifySchema

export const closeStreamSchema = {
  operationId: 'closeStream',
  tags,
  summary: 'Close a stream and settle the final amount',
  description: [
    'Fixes the final amount, sends one settlement, and waits up to 25 s for its outcome. `status: "closing"` says that ' +
      'it is not known yet: it is settled without you, and `stream.closed` or `stream.failed` follows. Closing again ' +
      'with the same amount has the same answer, and never settles twice.',
    'A final amount of 0 transfers nothing and consumes the authorization.',
    'Over a channel whose `receiverAuthorizer` is yours, send `claimAuthorizerSignature`. Without it the answer is ' +
      '`closing` with `claim`, which says what to sign: close again with the signature.',
  ].join('\n\n'),
  headers,
  body: closeStreamBody,
  response: {
    200: jsonResponse(
      'The stream; its status says what became of the settlement.',
      streamAnswer,
      streamExamples.closed,
    ),
    ...describeErrors(closeErrors, bodyLimits.signIn),
  },
  'x-reference': {
    request: streamExamples.close,
  },
} satisfies FastifySchema

const control = {
  tags,
  params,
  headers,
  body: controlStreamBody,
} as const

export const pauseStreamSchema = {
  ...control,
  operationId: 'pauseStream',
  summary: 'Pause a stream',
  description:
    'Updates are refused until it is resumed. Its time goes on: at `expiresAt` what was used is settled. Idempotent.',
  response: {
    200: jsonResponse('The stream is paused.', streamAnswer, streamExamples.paused),
    ...describeErrors(controlErrors),
  },
  'x-reference': {
    request: { withKey: { summary: 'With an API key', value: {} } },
  },
} satisfies FastifySchema

export const resumeStreamSchema = {
  ...control,
  operationId: 'resumeStream',
  summary: 'Resume a paused stream',
  description: 'The stream takes updates again. Idempotent: an active stream stays active.',
  response: {
    200: jsonResponse('The stream is active.', streamAnswer),
    ...describeErrors(controlErrors),
  },
  'x-reference': {
    request: { withKey: { summary: 'With an API key', value: {} } },
  },
} satisfies FastifySchema

export const getStreamSchema = {
  operationId: 'getStream',
  tags,
  summary: 'Get a stream',
  description: 'Streams of another account do not exist here (404).',
  params,
  headers,
  response: {
    200: jsonResponse('The stream as it is now.', streamUpdated),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const listStreamsSchema = {
  operationId: 'listStreams',
  tags,
  summary: 'List your streams',
  description: 'Streams of the account of the API key, newest first.',
  querystring: pageQuery.extend({
    status: z.enum(streamStates).optional().meta({ description: 'Filter by status; default: all' }),
  }),
  response: {
    200: jsonResponse('A page of streams.', streamPage),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema
