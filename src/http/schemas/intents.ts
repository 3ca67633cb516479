import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import {
  changedIntent,
  createdIntent,
  executedIntent,
  intentPage,
  intentRequest,
  intentStatuses,
  intentWithRoutes,
  routedIntent,
  routeSelection,
} from '../../protocol/intents.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { wirePayload } from '../../protocol/wire.js'
import { keyedHeaders, replayedHeader } from '../idempotencyKey.js'
import { paymentRequests } from './paymentExamples.js'
import { pageQuery, uuidText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse, keyedErrors } from './responses.js'

const id = '4c0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
const settlementId = '0d9c7a5e-2f0b-4a53-9b0e-0d6f7c9a1b11'
const transaction = `0x${'ab'.repeat(32)}`
const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const payee = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const network = 'eip155:84532'

const requested = {
  payer,
  payee: { eip155: payee },
  amount: '10000',
  asset: 'USDC',
  metadata: { order: '4711' },
}

const route = {
  id: 'route_5f0c1f6e7a0e4c53',
  scheme: 'exact',
  network,
  asset,
  symbol: 'USDC',
  decimals: 6,
  amount: '10000',
  payer,
  payTo: payee,
  balance: '5000000',
  fee: { amount: '240000000000', symbol: 'ETH', decimals: 18, paidBy: 'facilitator' },
  estimatedSeconds: 4,
  score: 0.964,
  validUntil: '2026-01-01T00:05:00.000Z',
}

const paymentRequirements = {
  scheme: 'exact',
  network,
  amount: '10000',
  asset,
  payTo: payee,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}

const pending = {
  id,
  status: 'pending',
  ...requested,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:05:00.000Z',
}
const routed = { ...pending, status: 'routed', selectedRoute: route, paymentRequirements }
const executing = { ...routed, status: 'executing', settlementId }
const completed = {
  ...executing,
  status: 'completed',
  transaction,
  settledAmount: '10000',
  closedAt: '2026-01-01T00:01:00.000Z',
}
const cancelled = { ...pending, status: 'cancelled', closedAt: '2026-01-01T00:01:00.000Z' }

export const intentExamples = {
  id,
  intent: pending,
  intentRoute: route,
  unavailableRoute: {
    network: 'eip155:11155420',
    scheme: 'exact',
    asset: '0x5fd84259d66Cd46123540766Be93DFE6D43130D7',
    reason: 'insufficient_balance',
    message: 'The payer has too little: 0 of 10000 smallest units',
  },
  create: {
    symbol: { value: requested },
    perChain: {
      value: {
        ...requested,
        payer: { eip155: payer, solana: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM' },
        payee: { eip155: payee, solana: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' },
        expiresIn: 900,
      },
    },
  },
  route: {
    request: { selected: { value: { routeId: route.id } } },
    response: { routed: { value: { intent: routed, selectedRoute: route, paymentRequirements } } },
  },
  execute: {
    request: { payment: { value: { paymentPayload: paymentRequests.version2.value.paymentPayload } } },
    response: {
      completed: {
        value: {
          intent: completed,
          status: 'completed',
          transaction,
          txHashes: [transaction],
          message: 'The payee was paid',
        },
      },
      executing: {
        value: {
          intent: executing,
          status: 'executing',
          transaction: '',
          txHashes: [],
          message: 'Sent, outcome not known yet; send the same request again, do not pay again',
        },
      },
    },
  },
  cancel: { cancelled: { value: { intent: cancelled } } },
} as const

const itemErrors = [...keyedErrors, 'NOT_FOUND'] as const
const createErrors = [
  ...keyedErrors,
  ...bodyErrors,
  'INVALID_IDEMPOTENCY_KEY',
  'REQUEST_IN_PROGRESS',
  'PAYLOAD_MISMATCH',
  'IDEMPOTENCY_UNAVAILABLE',
] as const
const changeErrors = [...itemErrors, 'INTENT_NOT_PENDING', 'INTENT_EXPIRED'] as const
const routeErrors = [...changeErrors, ...bodyErrors, 'ROUTE_EXPIRED'] as const
const executeErrors = [
  ...routeErrors,
  'PAYMENT_REFUSED',
  'NO_ROUTE_SELECTED',
  'QUOTA_EXCEEDED',
  'SETTLEMENT_FAILED',
] as const

const params = z.object({ id: uuidText.meta({ examples: [intentExamples.id] }) })
const tokenHeaders = z.object({
  'X-Intent-Token': z.string().optional().meta({
    description: 'Of an intent that was created without an API key: `intentToken` of the answer',
  }),
})

export const createIntentSchema = {
  operationId: 'createIntent',
  tags: ['Intents'],
  summary: 'Ask how a payment can be made',
  description: [
    'Computes every way in which this facilitator can settle the payment now: a network, a token and a scheme, with the ' +
      "payer's balance, the fee, the usual time and a score. Nothing is bridged and nothing is exchanged: the payee " +
      'receives, on the network of the route, the token that the payer has there. `unavailable` says why other networks ' +
      'are no route.',
    'Without an API key the id is the only way to the intent: keep it secret until it is paid. `intentToken`, which is ' +
      'shown once, cancels it: send it as `X-Intent-Token`.',
    'With an `Idempotency-Key` you can repeat the request after a lost response: the same key and body answer the first ' +
      'intent, as it is then, marked by `X-Idempotency-Replayed: true`. Keys are scoped to the caller and kept for 24 ' +
      'hours. Without an API key, use a random one.',
  ].join('\n\n'),
  headers: keyedHeaders,
  body: intentRequest,
  response: {
    201: jsonResponse('The intent with its routes.', createdIntent),
    ...describeErrors(createErrors),
  },
  'x-reference': {
    request: intentExamples.create,
    headers: { 201: replayedHeader },
  },
} satisfies FastifySchema

export const listIntentsSchema = {
  operationId: 'listIntents',
  tags: ['Intents'],
  summary: 'List your intents',
  description: 'Intents of the account of the key, newest first, without their routes.',
  querystring: pageQuery.extend({
    status: z.enum(intentStatuses).optional().meta({ description: 'Filter by status; default: all' }),
  }),
  response: {
    200: jsonResponse('A page of intents.', intentPage),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const getIntentSchema = {
  operationId: 'getIntent',
  tags: ['Intents'],
  summary: 'Get an intent',
  description: 'With the routes as they were last computed, and what became of its payment.',
  params,
  response: {
    200: jsonResponse('The intent.', intentWithRoutes),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const selectRouteSchema = {
  operationId: 'selectRoute',
  tags: ['Intents'],
  summary: 'Select a route',
  description:
    'Answers the payment requirements to sign, complete as `POST /accepts` makes them. Another route can be selected ' +
    'until a payment is executed.',
  params,
  body: routeSelection,
  response: {
    200: jsonResponse('The route is selected.', routedIntent, intentExamples.route.response),
    ...describeErrors(routeErrors),
  },
  'x-reference': {
    request: intentExamples.route.request,
  },
} satisfies FastifySchema

export const executeIntentSchema = {
  operationId: 'executeIntent',
  tags: ['Intents'],
  summary: 'Pay an intent',
  description: [
    'Settles the signed payment, judged against the requirements of the selected route. A payment of another payer is ' +
      'refused. Send the same request again after a lost answer: it joins the settlement, and is answered its result.',
    'A refused payment answers 400 `PAYMENT_REFUSED` with `errorReason`: this facilitator sent nothing, and the payer may ' +
      'sign again. Under `exact-direct` the payer has sent the funds itself: correct the proof, and do not pay again. ' +
      'A 200 says what became of a payment that was sent: `completed`, `executing` (its outcome is not known yet: do not ' +
      'pay again) or `failed`.',
  ].join('\n\n'),
  params,
  body: z
    .object({
      paymentPayload: wirePayload,
      routeId: routeSelection.shape.routeId.optional().meta({
        description: 'Selects this route first; default: the selected one',
      }),
    })
    .meta({ id: 'IntentExecution' }),
  response: {
    200: jsonResponse('What became of the payment.', executedIntent, intentExamples.execute.response),
    ...describeErrors(executeErrors, bodyLimits.payment),
  },
  'x-reference': {
    request: intentExamples.execute.request,
  },
} satisfies FastifySchema

export const cancelIntentSchema = {
  operationId: 'cancelIntent',
  tags: ['Intents'],
  summary: 'Cancel an intent',
  description:
    'Possible until a payment is executed; after that, the payment decides. A transfer of `exact-direct` that was on chain ' +
    'before still executes the intent. An intent that was created without an API key is cancelled with its ' +
    '`intentToken` only. Idempotent.',
  params,
  headers: tokenHeaders,
  response: {
    200: jsonResponse('The intent is cancelled.', changedIntent, intentExamples.cancel),
    ...describeErrors(changeErrors),
  },
} satisfies FastifySchema

export const refreshIntentSchema = {
  operationId: 'refreshIntent',
  tags: ['Intents'],
  summary: 'Compute the routes again',
  description:
    'With new balances and fees, valid for another 5 minutes, but never longer than the intent. A selected route that is ' +
    'no longer available is selected no more: the intent is `pending` again. A selected route of `exact-direct` stays, ' +
    'because the payer may have paid.',
  params,
  response: {
    200: jsonResponse('The intent with its routes.', intentWithRoutes),
    ...describeErrors(changeErrors),
  },
} satisfies FastifySchema
