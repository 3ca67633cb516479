import { z } from 'zod'

export const requestStatistics = z
  .object({
    totalRequests: z.int().meta({ description: 'Answered requests since the first start, without probes' }),
    successfulRequests: z.int().meta({ description: 'Responses below 500, including refusals' }),
    failedRequests: z.int().meta({ description: 'Responses with a status of 500 or more' }),
    avgDurationMs: z.number().meta({ description: 'Mean of all requests; 0 without requests' }),
  })
  .meta({ id: 'RequestStatistics' })

export type RequestStatistics = z.infer<typeof requestStatistics>

export const settlementStatistics = z
  .object({
    confirmed: z.int(),
    failed: z.int(),
    pending: z.int().meta({ description: 'Started, outcome not known yet' }),
  })
  .meta({ id: 'SettlementStatistics' })

export type SettlementStatistics = z.infer<typeof settlementStatistics>
