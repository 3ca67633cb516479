import type { FastifySchema } from 'fastify'
import type { ErrorCode } from '../../errors.js'
import { requestStatistics, settlementStatistics } from '../../protocol/statistics.js'
import { describeErrors, jsonResponse } from './responses.js'

const errors = ['INTERNAL_ERROR'] as const satisfies readonly ErrorCode[]

export const requestStatisticsSchema = {
  operationId: 'getRequestStatistics',
  tags: ['Statistics'],
  summary: 'Request counts and mean duration',
  description:
    'Totals of all instances since the first start, delayed by a few seconds. Requests to `/health`, `/ready` and ' +
    '`/metrics` are excluded. Every 4xx and 5xx response counts as failed.',
  response: {
    200: jsonResponse('The counts.', requestStatistics, {
      counts: {
        value: {
          totalRequests: 1_234,
          successfulRequests: 1_233,
          failedRequests: 1,
          avgDurationMs: 41.7,
        },
      },
    }),
    ...describeErrors(errors),
  },
} satisfies FastifySchema

export const settlementStatisticsSchema = {
  operationId: 'getSettlementStatistics',
  tags: ['Statistics'],
  summary: 'Settlement counts by status',
  description: 'Totals of all instances since the first start, delayed by a few seconds.',
  response: {
    200: jsonResponse('The counts.', settlementStatistics, {
      counts: { value: { confirmed: 1_200, failed: 12, pending: 3 } },
    }),
    ...describeErrors(errors),
  },
} satisfies FastifySchema
