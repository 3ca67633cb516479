import type { FastifySchema } from 'fastify'
import type { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { requestStatistics, settlementStatistics } from '../../protocol/statistics.js'
import { describeErrors, exemplifyErrors } from './errorBody.js'

const errors = ['INTERNAL_ERROR'] as const satisfies readonly ErrorCode[]

const answer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
})

/** `GET /stats/requests` */
export const requestStatisticsSchema = {
  operationId: 'getRequestStatistics',
  tags: ['Statistics'],
  summary: 'How many requests were answered, and how fast?',
  description:
    'Of all instances together, since the first start; a few seconds old. Requests for `/health`, `/ready` and ' +
    '`/metrics` are left out. A request that was refused for good reason counts as successful.',
  response: { 200: answer('The counts.', requestStatistics), ...describeErrors(errors) },
  'x-reference': {
    answers: {
      200: {
        counts: {
          value: {
            totalRequests: 1_234,
            successfulRequests: 1_233,
            failedRequests: 1,
            avgDurationMs: 41.7,
          },
        },
      },
      ...exemplifyErrors(errors),
    },
  },
} satisfies FastifySchema

/** `GET /stats/settlements` */
export const settlementStatisticsSchema = {
  operationId: 'getSettlementStatistics',
  tags: ['Statistics'],
  summary: 'How many settlements stand how?',
  description: 'Of all instances together, since the first start; some seconds old.',
  response: { 200: answer('The counts.', settlementStatistics), ...describeErrors(errors) },
  'x-reference': {
    answers: {
      200: { counts: { value: { confirmed: 1_200, failed: 12, pending: 3 } } },
      ...exemplifyErrors(errors),
    },
  },
} satisfies FastifySchema
