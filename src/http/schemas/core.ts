import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { bodyLimits } from '../../protocol/bodyLimits.js'
import {
  readiness,
  serviceInfo,
  settlementPage,
  settlementsOfTransaction,
  settlementView,
  settleResult,
  supported,
  verifyResult,
} from '../../protocol/results.js'
import { wirePaymentRequest } from '../../protocol/wire.js'
import { answer } from './answer.js'
import { describeErrors, exemplifyErrors } from './errorBody.js'
import {
  infoAnswer,
  parameters,
  paymentRequests,
  readinessAnswers,
  settleAnswers,
  settlementAnswers,
  settlementPages,
  supportedAnswer,
  verifyAnswers,
} from './examples.js'
import { settlementsQuery } from './settlementsQuery.js'

const tier = z
  .object({
    name: z.string().meta({ description: 'Display name' }),
    monthlyQuota: z.int().meta({ description: 'Transactions per month; -1 means unlimited' }),
    rpmLimit: z.int().meta({ description: 'Requests per minute' }),
    feeRate: z.number().meta({ description: 'Fraction of a payment, for example 0.001' }),
    priceCents: z.int().meta({ description: 'Monthly price in cents' }),
  })
  .meta({ id: 'Tier' })

const tierList = z.object({
  tiers: z.object({ free: tier, builder: tier, scale: tier, enterprise: tier }),
})

const text = (description: string, mediaType: string) => ({
  description,
  content: { [mediaType]: { schema: z.string() } },
})

const paymentErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
] as const satisfies readonly ErrorCode[]

const verifyErrors = [
  ...paymentErrors,
  'QUOTA_EXCEEDED',
  'VERIFICATION_FAILED',
  'SERVICE_UNAVAILABLE',
] as const
const settleErrors = [
  ...paymentErrors,
  'INVALID_IDEMPOTENCY_KEY',
  'REQUEST_IN_PROGRESS',
  'PAYLOAD_MISMATCH',
  'PREVIOUS_REQUEST_FAILED',
  'RATE_LIMITED',
  'QUOTA_EXCEEDED',
  'SETTLEMENT_FAILED',
  'IDEMPOTENCY_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
] as const
const lookUpErrors = ['INVALID_REQUEST', 'NOT_FOUND', 'INTERNAL_ERROR'] as const
const settlementsErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'INTERNAL_ERROR',
] as const
const readErrors = ['INTERNAL_ERROR'] as const

/** `GET /health` */
export const healthSchema = {
  operationId: 'getHealth',
  tags: ['Service'],
  summary: 'Is the process alive?',
  description: 'Answers as long as the process runs, whatever its stores and chains do. For liveness probes.',
  response: {
    200: answer('The process is alive.', z.object({ status: z.literal('ok') })),
    ...describeErrors(readErrors),
  },
  'x-reference': {
    answers: { 200: { ok: { value: { status: 'ok' } } }, ...exemplifyErrors(readErrors) },
  },
} satisfies FastifySchema

/** `GET /ready` */
export const readySchema = {
  operationId: 'getReadiness',
  tags: ['Service'],
  summary: 'Can payments be handled right now?',
  description:
    'Checks what the service needs (database, store, at least one RPC) and names each. For readiness probes: ' +
    'while it answers 503, a load balancer should send requests elsewhere. It also says whose gas is `low` or ' +
    '`empty`, which no other instance could help.',
  response: {
    200: answer('Everything that is needed answers.', readiness),
    ...describeErrors(readErrors),
    503: answer('Something that is needed does not answer; `checks` says what.', readiness),
  },
  'x-reference': {
    answers: {
      200: { ready: readinessAnswers.ready },
      ...exemplifyErrors(readErrors),
      503: { unready: readinessAnswers.unready },
    },
  },
} satisfies FastifySchema

/** `GET /metrics` */
export const metricsSchema = {
  operationId: 'getMetrics',
  tags: ['Service'],
  summary: 'Counters for a scraper',
  description:
    'Prometheus text: requests and their durations, verifications and settlements by network, scheme and ' +
    'result, settlements that are open, were opened again or lost, what each signer can still pay for, how each ' +
    'RPC endpoint does, and the process itself.',
  response: {
    200: text('The text exposition format.', 'text/plain'),
    ...describeErrors(readErrors),
  },
  'x-reference': {
    answers: {
      200: {
        verify: {
          value:
            'facilitator_verify_total{network="eip155:84532",scheme="exact",result="valid"} 42\n' +
            'facilitator_active_requests 1\n',
        },
      },
      ...exemplifyErrors(readErrors),
    },
  },
} satisfies FastifySchema

/** `GET /info` */
export const infoSchema = {
  operationId: 'getInfo',
  tags: ['Service'],
  summary: 'Name, version, endpoints and features of this instance',
  description: 'Lists the endpoints that this instance really serves and the features that are switched on.',
  response: { 200: answer('What this instance is.', serviceInfo), ...describeErrors(readErrors) },
  'x-reference': { answers: { 200: infoAnswer, ...exemplifyErrors(readErrors) } },
} satisfies FastifySchema

/** `GET /supported` */
export const supportedSchema = {
  operationId: 'getSupported',
  tags: ['Payments'],
  summary: 'Which payments can be settled here?',
  description:
    'Every pair of scheme and network that this instance can settle at this moment, what clients need to know ' +
    'to sign (`extra`), the protocol extensions, and the addresses that settlements are sent from. A network ' +
    'leaves the list while its RPC is down or its gas runs out.',
  response: { 200: answer('What can be settled right now.', supported), ...describeErrors(readErrors) },
  'x-reference': { answers: { 200: supportedAnswer, ...exemplifyErrors(readErrors) } },
} satisfies FastifySchema

/** `GET /tiers` */
export const tiersSchema = {
  operationId: 'getTiers',
  tags: ['Service'],
  summary: 'Plans with their quotas, limits and prices',
  description: 'The same on every instance; limits apply to callers with an API key.',
  response: { 200: answer('All plans by their id.', tierList), ...describeErrors(readErrors) },
  'x-reference': {
    answers: {
      200: {
        free: {
          summary: 'One of the plans',
          value: {
            tiers: { free: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0, priceCents: 0 } },
          },
        },
      },
      ...exemplifyErrors(readErrors),
    },
  },
} satisfies FastifySchema

/** `POST /verify` */
export const verifySchema = {
  operationId: 'verifyPayment',
  tags: ['Payments'],
  summary: 'Judge a payment without moving funds',
  description: [
    'Says whether the payment would settle: shape, scheme and network, recipient, amount, time window, ' +
      'signature (keys, EIP-1271 and EIP-6492 wallets), balance, and a simulation of the very transfer that ' +
      '/settle would send.',
    'A refused payment is an answer, not an error: **HTTP 200** with `isValid: false` and the reason. An error ' +
      'status means that nothing was decided: 4xx asks you to change the request, 5xx to repeat it.',
    'Nothing is reserved: between /verify and /settle the payer can still spend the money or use the ' +
      'authorization elsewhere. When you hang up, the verification is cancelled.',
  ].join('\n\n'),
  body: wirePaymentRequest,
  response: {
    200: answer('The verdict.', verifyResult),
    ...describeErrors(verifyErrors, bodyLimits.payment),
  },
  'x-reference': {
    request: paymentRequests,
    answers: { 200: verifyAnswers, ...exemplifyErrors(verifyErrors, bodyLimits.payment) },
  },
} satisfies FastifySchema

/** `POST /settle` */
export const settleSchema = {
  operationId: 'settlePayment',
  tags: ['Payments'],
  summary: 'Carry out a payment on chain',
  description: [
    'Verifies the payment again, sends it, and waits up to 25 s for the outcome. There are three:',
    '- `success: true` – the recipient has the money. Deliver.\n' +
      '- `success: false` with `status: "pending"` and a `transaction` – sent, outcome not known yet. **Do not ' +
      'ask the payer to pay again.** Repeat the same request: it joins the settlement that is under way. Or ask ' +
      '`GET /v1/settlements/{id}`.\n' +
      '- `success: false` otherwise – no money moved, and by this authorization none will, unless ' +
      '`errorReason` is `duplicate_settlement`: then it paid for another request before, and ' +
      '`transaction` says where.',
    'One authorization earns one success. With an `Idempotency-Key` you can repeat a request after a lost ' +
      'answer: the same key and body get the first answer again, marked by `X-Idempotency-Replayed: true`. ' +
      'Keys belong to the caller and are kept for 24 hours. Use one on every settle.',
    'When you hang up, the settlement goes on.',
  ].join('\n\n'),
  headers: z.object({
    'Idempotency-Key': z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/)
      .optional()
      .meta({
        description: 'Your name for this request: 1 to 64 letters, digits and hyphens',
        examples: ['order-4711-attempt-1'],
      }),
  }),
  body: wirePaymentRequest,
  response: {
    200: answer('The outcome.', settleResult),
    ...describeErrors(settleErrors, bodyLimits.payment),
  },
  'x-reference': {
    request: paymentRequests,
    answers: { 200: settleAnswers, ...exemplifyErrors(settleErrors, bodyLimits.payment) },
    headers: {
      200: {
        'X-Idempotency-Replayed': {
          description:
            '`true` where the answer is that of an earlier request with the same `Idempotency-Key`',
          schema: { type: 'string', enum: ['true'] },
        },
      },
    },
  },
} satisfies FastifySchema

/** `GET /v1/settlements/{id}` */
export const settlementSchema = {
  operationId: 'getSettlement',
  tags: ['Payments'],
  summary: 'How does a settlement stand?',
  description:
    'The settlement that an answer of /settle named in `settlementId`. `pending` turns into `confirmed` or ' +
    '`failed` as soon as the chain proves one or the other.',
  params: z.object({ id: z.uuid().meta({ examples: [parameters.settlementId] }) }),
  response: { 200: answer('The settlement.', settlementView), ...describeErrors(lookUpErrors) },
  'x-reference': { answers: { 200: settlementAnswers, ...exemplifyErrors(lookUpErrors) } },
} satisfies FastifySchema

/** `GET /v1/settlements?network=&transaction=` and `?status=` */
export const settlementsSchema = {
  operationId: 'findSettlement',
  tags: ['Payments'],
  summary: 'The settlements of a transaction, or, for operators, of a status',
  description: [
    '**By `network` and `transaction`**, for when all you have is the transaction hash of an answer. Payments that ' +
      'wait together are settled by one transaction: `payer` picks one of them; without it the first is shown and ' +
      'the rest stand in `others`.',
    '**By `status`**, for those who run the instance: pages of all settlements that stand so, the newest first, ' +
      'where you like of one network or since a time. It needs `Authorization: Bearer` with the `OPERATOR_TOKEN` ' +
      'of the instance, and is forbidden where none is set.',
  ].join('\n\n'),
  querystring: settlementsQuery,
  response: {
    200: answer(
      'The settlement, or a page of settlements.',
      z.union([settlementsOfTransaction, settlementPage]),
    ),
    ...describeErrors(settlementsErrors),
  },
  'x-reference': {
    answers: {
      200: { ...settlementAnswers, ...settlementPages },
      ...exemplifyErrors(settlementsErrors),
    },
  },
} satisfies FastifySchema
