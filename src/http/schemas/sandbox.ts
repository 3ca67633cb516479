import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  advanceRequest,
  createdInbox,
  inboxRequest,
  inboxView,
  sandboxAddressList,
  sandboxPayment,
  scenarioRequest,
  scenarioView,
} from '../../protocol/sandbox.js'
import { paymentRequests } from './paymentExamples.js'
import { bodyErrors, describeErrors, jsonResponse } from './responses.js'

const readErrors = ['INTERNAL_ERROR', 'RATE_LIMITED'] as const satisfies readonly ErrorCode[]
const itemErrors = [...readErrors, 'INVALID_REQUEST', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'] as const
const writeErrors = [...readErrors, 'INVALID_REQUEST', ...bodyErrors, 'SERVICE_UNAVAILABLE'] as const
const changeErrors = [...writeErrors, 'NOT_FOUND'] as const

const scenarioId = '5d3a4c1e-8f0b-4a52-9c67-2b1f0e9d8a73'
const inboxId = '0f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a'
const expiresAt = '2026-01-01T01:00:00.000Z'

const inboxExample = {
  id: inboxId,
  url: `https://inbox.sandbox.test/${inboxId}`,
  failuresLeft: 3,
  expiresAt: '2026-01-02T00:00:00.000Z',
}

const { paymentPayload, paymentRequirements } = paymentRequests.version2.value

export const scenarioExample = {
  id: scenarioId,
  network: 'eip155:84532',
  payer: '0x4c1f5a7b9d2e3f60718293a4b5c6d7e8f9012345',
  clockSeconds: 0,
  expiresAt,
  request: { paymentPayload, paymentRequirements },
}

const ids = (example: string) => z.object({ id: z.uuid().meta({ examples: [example] }) })

export const sandboxAddressesSchema = {
  operationId: 'listSandboxAddresses',
  tags: ['Sandbox'],
  summary: 'Payers with fixed results',
  description:
    'Every fixed payer with what /verify and /settle answer to its payments, and a body to send. Nonces are new in each ' +
    'answer, so that bodies of two callers are two payments.',
  response: {
    200: jsonResponse('The payers.', sandboxAddressList, {
      settles: {
        value: {
          addresses: [
            {
              name: 'CAFE11',
              address: '0x0000000000000000000000000000000000CAFE11',
              family: 'eip155',
              networks: ['eip155:84532'],
              schemes: ['exact', 'upto'],
              meaning: 'The payment verifies and settles',
              verify: { isValid: true },
              settle: { success: true },
              request: scenarioExample.request,
            },
          ],
        },
      },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const sandboxPaymentSchema = {
  operationId: 'createSandboxPayment',
  tags: ['Sandbox'],
  summary: 'A payment that is ready to send',
  description:
    'Of a fixed payer, by its name or its address on the network, of the payer of a scenario, or of any address; with a ' +
    'new nonce each time. It is unsigned: /verify refuses it for a payer that the sandbox does not know.',
  params: z.object({
    payer: z
      .string()
      .max(128)
      .meta({ examples: ['CAFE11'] }),
  }),
  querystring: z.object({
    network: z
      .string()
      .max(128)
      .optional()
      .meta({ description: 'CAIP-2 identifier; default `eip155:84532`', examples: ['eip155:84532'] }),
  }),
  response: {
    200: jsonResponse('A body to send.', sandboxPayment),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const createScenarioSchema = {
  operationId: 'createScenario',
  tags: ['Sandbox'],
  summary: 'Make a payer that behaves as scripted',
  description: [
    'Returns a new payer and a body with its payment. What becomes of the payment follows the script, on a clock of the ' +
      'scenario that stands still until `POST /sandbox/clock/advance` moves it. A scenario lives for an hour. ' +
      'An address and an account have a share of the live ones; beyond that 429 with `Retry-After`.',
    'Without `settle` the payment is confirmed at once; with `pendingSeconds` /settle answers `settlement_pending`. With ' +
      '`reorg` the block of the payment is orphaned later. With `webhook` the answer has an inbox: set its URL as webhook ' +
      'of your API key.',
  ].join('\n\n'),
  body: scenarioRequest,
  response: {
    201: jsonResponse('The scenario.', scenarioView),
    ...describeErrors(writeErrors),
  },
  'x-reference': {
    request: {
      settleFails: {
        summary: 'Verifies, then fails to settle',
        value: { network: 'eip155:84532', settle: { failsFor: 'insufficient_funds' } },
      },
      pending: {
        summary: 'Pending for 45 s, then confirmed',
        value: { network: 'eip155:84532', settle: { pendingSeconds: 45 } },
      },
      reorg: {
        summary: 'Orphaned after two blocks, and the webhook fails three times',
        value: { network: 'eip155:84532', reorg: { afterBlocks: 2 }, webhook: { failures: 3 } },
      },
    },
  },
} satisfies FastifySchema

export const getScenarioSchema = {
  operationId: 'getScenario',
  tags: ['Sandbox'],
  summary: 'Get a scenario, with a new body to send',
  description: 'Its payer, its clock, and another payment of its payer.',
  params: ids(scenarioId),
  response: {
    200: jsonResponse('The scenario.', scenarioView),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

export const advanceClockSchema = {
  operationId: 'advanceSandboxClock',
  tags: ['Sandbox'],
  summary: 'Advance the clock of a scenario',
  description:
    'Settlements, reorgs and webhook retries that become due are done when the answer arrives: the next ' +
    '`GET /v1/settlements/{id}` and `GET /sandbox/inbox/{id}` show them.',
  body: advanceRequest,
  response: {
    200: jsonResponse('The scenario.', scenarioView),
    ...describeErrors(changeErrors),
  },
  'x-reference': {
    request: { past45Seconds: { value: { scenarioId, seconds: 46 } } },
  },
} satisfies FastifySchema

export const createInboxSchema = {
  operationId: 'createSandboxInbox',
  tags: ['Sandbox'],
  summary: 'Make an inbox for webhooks',
  description:
    'Its URL works as `webhookUrl` of any API key of this sandbox; deliveries stay in the service. An inbox lives for a day.',
  body: inboxRequest,
  response: {
    201: jsonResponse('The new inbox.', createdInbox, { inbox: { value: inboxExample } }),
    ...describeErrors(writeErrors),
  },
  'x-reference': {
    request: { failsThrice: { value: { failures: 3 } } },
  },
} satisfies FastifySchema

export const readInboxSchema = {
  operationId: 'readSandboxInbox',
  tags: ['Sandbox'],
  summary: 'Read what an inbox received',
  description:
    'Each webhook with its headers, so that signatures can be verified, and what the inbox answered.',
  params: ids(inboxId),
  response: {
    200: jsonResponse('The inbox with its messages.', inboxView, {
      inbox: {
        value: {
          ...inboxExample,
          failuresLeft: 2,
          messages: [
            {
              headers: { 'webhook-id': '1f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7' },
              body: '{"type":"settlement.confirmed"}',
              status: 500,
              receivedAt: '2026-01-01T00:00:03.000Z',
            },
          ],
        },
      },
    }),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema
