import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  atDeadlineRequest,
  captureRequest,
  heldNetwork,
  heldPaymentDetails,
  heldPaymentPage,
  heldStatus,
  movedHold,
  paymentInfoHash,
  refundRequest,
  voidRequest,
} from '../../protocol/heldPayments.js'
import { keyedHeaders } from '../idempotencyKey.js'
import { pageQuery } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const readErrors = [...keyedErrors, 'NOT_FOUND'] as const satisfies readonly ErrorCode[]
const moveErrors = [
  ...readErrors,
  ...bodyErrors,
  'INVALID_IDEMPOTENCY_KEY',
  'PAYMENT_REFUSED',
  'PAYLOAD_MISMATCH',
  'QUOTA_EXCEEDED',
  'SETTLEMENT_FAILED',
] as const satisfies readonly ErrorCode[]

const network = 'eip155:84532'
const hash = `0x${'5f'.repeat(32)}`
const transaction = `0x${'ab'.repeat(32)}`
const settlementId = '0d9c7a5e-2f0b-4a53-9b0e-0d6f7c9a1b11'

const payment = {
  network,
  paymentInfoHash: hash,
  status: 'held',
  payer: '0x18f77dd01186556F1F745E7847A4686421dEE072',
  payTo: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '10000',
  capturableAmount: '6000',
  refundableAmount: '4000',
  capturedAmount: '4000',
  voidedAmount: '0',
  reclaimedAmount: '0',
  refundedAmount: '0',
  captureDeadline: '2026-01-02T00:00:00.000Z',
  atDeadline: 'nothing',
  refundDeadline: '2026-02-01T00:00:00.000Z',
  createdAt: '2026-01-01T00:00:00.000Z',
}

const details = {
  ...payment,
  settlements: [
    {
      id: settlementId,
      type: 'capture',
      status: 'confirmed',
      amount: '4000',
      transaction,
      automatic: false,
      createdAt: '2026-01-01T00:05:00.000Z',
    },
  ],
}

const moved = { status: 'confirmed', amount: '4000', settlementId, transaction, payment: details }

const repeated =
  'A repeated `Idempotency-Key` is the same request, however late: it is answered what became of it, and moves nothing twice. ' +
  'A 400 `PAYMENT_REFUSED` means that nothing was sent; its message states what can be captured and refunded now. Of two ' +
  'requests that start from the same state one is refused: ask again under a new key.'

export const captureSchema = {
  operationId: 'capture',
  tags: ['Holds'],
  summary: 'Capture a hold',
  description: `Pays a part or all of a hold of \`auth-capture\` to its recipient, before \`captureDeadline\`. ${repeated}`,
  headers: keyedHeaders,
  body: captureRequest,
  response: {
    200: jsonResponse('What became of the capture.', movedHold, { captured: { value: moved } }),
    ...describeErrors(moveErrors),
  },
  'x-reference': {
    request: { part: { value: { network, paymentInfoHash: hash, amount: '4000' } } },
  },
} satisfies FastifySchema

export const voidSchema = {
  operationId: 'voidHold',
  tags: ['Holds'],
  summary: 'Void a hold',
  description:
    'Returns what was not captured to the payer. Idempotent: a hold is voided once, under any key and without one.',
  headers: keyedHeaders,
  body: voidRequest,
  response: {
    200: jsonResponse('What became of the void.', movedHold, {
      voided: {
        value: { status: 'confirmed', settlementId, transaction, payment: { ...details, status: 'voided' } },
      },
    }),
    ...describeErrors(moveErrors),
  },
  'x-reference': {
    request: { hold: { value: { network, paymentInfoHash: hash } } },
  },
} satisfies FastifySchema

export const refundSchema = {
  operationId: 'refundHold',
  tags: ['Holds'],
  summary: 'Refund what was captured',
  description: `Returns a part or all of what was captured, before \`refundDeadline\`, where the operator pays refunds of the recipient. ${repeated}`,
  headers: keyedHeaders,
  body: refundRequest,
  response: {
    200: jsonResponse('What became of the refund.', movedHold, { refunded: { value: moved } }),
    ...describeErrors(moveErrors),
  },
  'x-reference': {
    request: { part: { value: { network, paymentInfoHash: hash, amount: '4000' } } },
  },
} satisfies FastifySchema

const deadlineErrors = [...readErrors, ...bodyErrors] as const satisfies readonly ErrorCode[]

export const setAtDeadlineSchema = {
  operationId: 'setAtDeadline',
  tags: ['Holds'],
  summary: 'State what is done at the deadline of a hold',
  description:
    'What is done shortly before `captureDeadline`, unless a request does it before. It can be changed until it begins: then ' +
    '409 `REQUEST_IN_PROGRESS`.',
  params: z.object({ network: heldNetwork, paymentInfoHash }),
  body: atDeadlineRequest,
  response: {
    200: jsonResponse('The payment.', heldPaymentDetails, {
      set: { value: { ...details, atDeadline: 'capture' } },
    }),
    ...describeErrors([...deadlineErrors, 'REQUEST_IN_PROGRESS', 'SERVICE_UNAVAILABLE']),
  },
  'x-reference': { request: { capture: { value: { atDeadline: 'capture' } } } },
} satisfies FastifySchema

export const getHoldDefaultsSchema = {
  operationId: 'getHoldDefaults',
  tags: ['Holds'],
  summary: 'Get what is done at the deadlines of my new holds',
  description: 'Until the account states it, nothing is done at their deadlines.',
  response: {
    200: jsonResponse('The default.', atDeadlineRequest, { nothing: { value: { atDeadline: 'nothing' } } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const setHoldDefaultsSchema = {
  operationId: 'setHoldDefaults',
  tags: ['Holds'],
  summary: 'State what is done at the deadlines of my new holds',
  description: 'For payments that are held from now on. Those that are held already keep what they have.',
  body: atDeadlineRequest,
  response: {
    200: jsonResponse('The default.', atDeadlineRequest, { capture: { value: { atDeadline: 'capture' } } }),
    ...describeErrors([...keyedErrors, ...bodyErrors]),
  },
  'x-reference': { request: { capture: { value: { atDeadline: 'capture' } } } },
} satisfies FastifySchema

export const getHeldPaymentSchema = {
  operationId: 'getHeldPayment',
  tags: ['Holds'],
  summary: 'Get one of my holds',
  description: 'Its terms, what became of it as the chain shows it now, and its settlements.',
  params: z.object({ network: heldNetwork, paymentInfoHash }),
  response: {
    200: jsonResponse('The payment.', heldPaymentDetails, { held: { value: details } }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const listHeldPaymentsSchema = {
  operationId: 'listHeldPayments',
  tags: ['Holds'],
  summary: 'List my holds',
  description: 'Newest first, each as of the last look at the chain.',
  querystring: pageQuery.extend({ status: heldStatus.optional().meta({ description: 'Filter by status' }) }),
  response: {
    200: jsonResponse('A page of holds.', heldPaymentPage, { holds: { value: { payments: [payment] } } }),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema
