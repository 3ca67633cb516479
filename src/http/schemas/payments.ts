import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import {
  settlementDetails,
  settlementPage,
  settlementsOfTransaction,
  settleResult,
  verifyResult,
} from '../../protocol/results.js'
import { wirePaymentRequest } from '../../protocol/wire.js'
import { keyedHeaders, replayedHeader } from '../idempotencyKey.js'
import {
  parameters,
  paymentRequests,
  settlementPages,
  settlementResponses,
  settleResponses,
  verifyResponses,
} from './paymentExamples.js'
import { settlementsQuery } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse } from './responses.js'

const paymentErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  ...bodyErrors,
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
export const verifySchema = {
  operationId: 'verifyPayment',
  tags: ['Payments'],
  summary: 'Verify a payment without moving funds',
  description: [
    'Checks whether the payment would settle: structure, scheme and network, recipient, amount, time window, ' +
      'signature (EOA, EIP-1271 and EIP-6492), balance, and a simulation of the transfer that /settle would send.',
    'A rejected payment is a result, not an error: **HTTP 200** with `isValid: false` and the reason. An error ' +
      'status means that there is no result: on 4xx change the request, on 5xx retry it.',
    'Between /verify and /settle the payer can still spend the funds or use the authorization elsewhere. Under `upto` ' +
      'what was verified is reserved: other authorizations of the payer verify only if they fit beside it. Closing the ' +
      'connection cancels the verification.',
  ].join('\n\n'),
  body: wirePaymentRequest,
  response: {
    200: jsonResponse('The verdict.', verifyResult, verifyResponses),
    ...describeErrors(verifyErrors, bodyLimits.payment),
  },
  'x-reference': {
    request: paymentRequests,
  },
} satisfies FastifySchema

export const settleSchema = {
  operationId: 'settlePayment',
  tags: ['Payments'],
  summary: 'Settle a payment on chain',
  description: [
    'Verifies the payment again, sends it, and waits up to 25 s for the outcome. There are three outcomes:',
    '- `success: true` – the funds were transferred to the recipient. Deliver.\n' +
      '- `success: false` with `status: "pending"` and a `transaction` – sent, outcome not known yet. **Do not ' +
      'ask the payer to pay again.** Retry the same request: it joins the settlement in progress. Or poll ' +
      '`GET /v1/settlements/{id}`.\n' +
      '- `success: false` otherwise – no funds moved, and this authorization will not move any, unless ' +
      '`errorReason` is `duplicate_settlement`: then it already paid for another request in `transaction`.',
    'Each authorization yields at most one success. With an `Idempotency-Key` you can retry after a lost ' +
      'response: the same key and body return the first response again, marked by `X-Idempotency-Replayed: true`. ' +
      'Another body under the key is 409 `PAYLOAD_MISMATCH` and charges nothing. Keys are scoped to the caller, without an ' +
      'API key to `network` and `payTo`, and kept for 24 hours. Use one on every settle.',
    'Under `upto`, `settleAmount` says what to transfer, and a success has the fields `transactionHash`, ' +
      '`settledAmount`, `maxAmount`, `blockNumber` and `gasUsed` besides.',
    'Closing the connection does not cancel the settlement.',
  ].join('\n\n'),
  headers: keyedHeaders,
  body: wirePaymentRequest,
  response: {
    200: jsonResponse('The outcome.', settleResult, settleResponses),
    ...describeErrors(settleErrors, bodyLimits.settle),
  },
  'x-reference': {
    request: paymentRequests,
    headers: { 200: replayedHeader },
  },
} satisfies FastifySchema

export const settlementSchema = {
  operationId: 'getSettlement',
  tags: ['Payments'],
  summary: 'Get a settlement',
  description:
    'The settlement with the `settlementId` of a /settle response. `pending` becomes `confirmed` or ' +
    '`failed` once there is final proof on chain.',
  params: z.object({
    id: z
      .uuid()
      .meta({ examples: [parameters.settlementId] })
      .transform((text) => text.toLowerCase()),
  }),
  response: {
    200: jsonResponse('The settlement.', settlementDetails),
    ...describeErrors(lookUpErrors),
  },
} satisfies FastifySchema

export const settlementsSchema = {
  operationId: 'findSettlement',
  tags: ['Payments'],
  summary: 'Find settlements by transaction or, for operators, by status',
  description: [
    '**By `network` and `transaction`**: one transaction can settle several payments. `payer` selects one of them; ' +
      'without it the first is returned, with the rest in `others`.',
    '**By `status`**, for operators: pages of all settlements with this status, newest first, optionally filtered by ' +
      'network and time. Requires `Authorization: Bearer` with the `OPERATOR_TOKEN` of the instance; forbidden if ' +
      'none is set.',
  ].join('\n\n'),
  querystring: settlementsQuery,
  response: {
    200: jsonResponse(
      'The settlement, or a page of settlements.',
      z.union([settlementsOfTransaction, settlementPage]),
      { ...settlementResponses, ...settlementPages },
    ),
    ...describeErrors(settlementsErrors),
  },
} satisfies FastifySchema
