import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { type Explanation, explanation, reasonCatalogue } from '../../protocol/explanations.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { payer, paymentRequests, payTo } from './paymentExamples.js'
import { describeErrors, jsonResponse, openErrors } from './responses.js'

const examples: Readonly<Record<string, { readonly summary: string; readonly value: Explanation }>> = {
  invalid: {
    summary: 'The client signed for another recipient',
    value: {
      verdict: 'invalid',
      reason: 'invalid_exact_evm_payload_recipient_mismatch',
      scheme: 'exact',
      network: 'eip155:84532',
      payer,
      rules: [
        {
          rule: 'payload_fields',
          title: 'The fields of the payload are readable',
          state: 'passed',
        },
        {
          rule: 'recipient',
          title: 'The payment goes to payTo of the requirements',
          state: 'failed',
          path: 'paymentPayload.payload.authorization.to',
          found: '0x000000000000000000000000000000000000dEaD',
          expected: payTo,
          reason: 'invalid_exact_evm_payload_recipient_mismatch',
          message: 'The recipient of the authorization is not payTo',
          remedy: 'Let the client sign an authorization to payTo of the requirements.',
        },
        {
          rule: 'simulation',
          title: 'The settlement succeeds when it is simulated',
          state: 'skipped',
          blockedBy: 'recipient',
        },
      ],
      facts: [
        { fact: 'payer_balance', title: "The payer's balance of the asset", value: '5000000' },
        { fact: 'token_name', title: "Name of the token's EIP-712 domain", value: 'USDC' },
      ],
    },
  },
  malformed: {
    summary: 'A field of the requirements is missing',
    value: {
      verdict: 'invalid',
      errorCode: 'INVALID_REQUEST',
      rules: [
        {
          rule: 'request_form',
          title: 'The request has the form that /verify reads',
          state: 'failed',
          path: 'paymentRequirements.payTo',
          found: 'nothing, but payto',
          expected: 'a value',
          message: 'paymentRequirements.payTo: is required',
          remedy: 'Correct the field that the message names.',
          errorCode: 'INVALID_REQUEST',
        },
      ],
      facts: [],
    },
  },
}

export const explainSchema = {
  operationId: 'explainPayment',
  tags: ['Payments'],
  summary: 'Explain what /verify finds, rule by rule',
  description: [
    'Takes the body of /verify, well-formed or not, and runs every rule on it: what was found, what is expected, and how to ' +
      'mend it. Rules after the first broken one run too, as far as what they need is known. The verdict is that of ' +
      '/verify, and `reason` is its `invalidReason`.',
    'For developers: nothing is held, promised, counted against a quota, recorded or sent. Do not deliver on it: a payment ' +
      'that is explained is not reserved.',
  ].join('\n\n'),
  body: z.looseObject({}).meta({
    id: 'ExplainRequest',
    description: 'The body of /verify. Every form is accepted, and what is wrong with it explained',
  }),
  response: {
    200: jsonResponse('The explanation.', explanation, examples),
    ...describeErrors(openErrors, bodyLimits.payment),
  },
  'x-reference': { request: paymentRequests },
} satisfies FastifySchema

export const reasonsSchema = {
  operationId: 'listReasons',
  tags: ['Service'],
  summary: 'List every reason and error code, and what to do',
  description:
    'Each reason that a payment can be refused for and each error code of this version, when it happens, and what to do. ' +
    'May be cached for an hour.',
  response: {
    200: jsonResponse('The reasons and error codes.', reasonCatalogue, {
      excerpt: {
        value: {
          reasons: [
            {
              reason: 'insufficient_funds',
              title: "The payer's token balance is lower than the payment",
              explanation: "The payer's token balance is below the payment.",
              remedy: 'Fund the payer with the token on this network, then send the same request again.',
              retryable: true,
              operationalCode: 'SVC-3003',
            },
          ],
          errorCodes: [
            {
              code: 'RATE_LIMITED',
              status: 429,
              explanation: 'Too many requests.',
              remedy: 'Send the request again after Retry-After.',
            },
          ],
        },
      },
    }),
    ...describeErrors(['INTERNAL_ERROR']),
  },
} satisfies FastifySchema
