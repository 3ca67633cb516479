import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { type ReconciliationPage, reconciliationPage } from '../../protocol/reconciliation.js'
import { parameters } from './paymentExamples.js'
import { describeLimit, pageLimit, uuidText } from './queries.js'
import { describeErrors, keyedErrors } from './responses.js'

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text))

const reconciliationQuery = z.strictObject({
  from: instant.optional().meta({
    description: 'Settlements that were opened at or after this time; default: a day before `to`',
    examples: ['2026-01-01T00:00:00Z'],
  }),
  to: instant.optional().meta({
    description: 'Settlements that were opened before this time; default: now',
    examples: ['2026-02-01T00:00:00Z'],
  }),
  network: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({
      description: 'Only of this network: one that is configured, or has settlements',
      examples: [parameters.network],
    }),
  limit: pageLimit.default(100).meta(describeLimit('Settlements on a page', 100)),
  cursor: uuidText.optional().meta({ description: '`nextCursor` of the previous page' }),
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .meta({ description: 'Default `json`', examples: ['json'] }),
})

const page: ReconciliationPage = {
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  isBalanced: false,
  checked: { settlements: 1, onChain: 1, unproven: 0, unavailable: 0, open: 0, waitingEvents: 0 },
  differences: [
    {
      kind: 'event_undelivered',
      message: 'The webhook did not accept the event; it can be redelivered',
      settlementId: '9401b76e-f466-496f-8524-886a61ebf067',
      network: 'eip155:8453',
      accountId: '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51',
      expected: 'delivered',
      actual: 'failed',
    },
  ],
  counts: [{ kind: 'event_undelivered', count: 1 }],
  isTruncated: false,
  settlements: [
    {
      id: '9401b76e-f466-496f-8524-886a61ebf067',
      createdAt: '2026-01-31T12:00:00.000Z',
      closedAt: '2026-01-31T12:00:02.000Z',
      status: 'confirmed',
      network: 'eip155:8453',
      scheme: 'exact',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payer: '0x857b06519E91e3A54538791bDbb0E22373e36b66',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      amount: '10000',
      transaction: '0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef',
      accountId: '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51',
      chain: 'agrees',
      event: 'failed',
      quotaMonth: '2026-01',
      fee: '10',
      differences: ['event_undelivered'],
    },
  ],
  totals: [
    {
      network: 'eip155:8453',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      confirmed: 1,
      failed: 0,
      pending: 0,
      amount: '10000',
      fees: '10',
    },
  ],
}

export const reconciliationSchema = {
  operationId: 'reconcile',
  tags: ['Statistics'],
  summary: 'Compare journal, chain, webhooks, quotas and fees of a period',
  description:
    'For operators, with `Authorization: Bearer` and the `OPERATOR_TOKEN` of the instance. Each settlement of the page ' +
    'is compared with the chain, its webhook event, its quota and its fee; the first page also compares all counters ' +
    'with a recount, within 120 s; what takes longer is listed as `not_compared`. At most 1,000 differences of each ' +
    'comparison are listed, and all are counted. Nothing is changed or sent. `format=csv`: a row for each settlement, then ' +
    'a row for each difference, with the next cursor in the header `X-Next-Cursor`.',
  querystring: reconciliationQuery,
  response: {
    200: {
      description: 'What was compared, and every difference.',
      content: {
        'application/json': { schema: reconciliationPage, examples: { difference: { value: page } } },
        'text/csv': {
          schema: z.string(),
          examples: {
            csv: {
              value: 'row,id,createdAt,closedAt\r\nsettlement,9401b76e-f466-496f-8524-886a61ebf067,…\r\n',
            },
          },
        },
      },
    },
    ...describeErrors(keyedErrors),
  },
  'x-reference': {
    headers: {
      200: {
        'X-Next-Cursor': {
          description: 'Of CSV: for the next page; absent on the last one',
          schema: { type: 'string', format: 'uuid' },
        },
      },
    },
  },
} satisfies FastifySchema
