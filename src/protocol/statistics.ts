import { z } from 'zod'

/** The answer of /stats/requests. */
export const requestStatistics = z
  .object({
    totalRequests: z.int().meta({ description: 'Answered requests since the beginning, probes left out' }),
    successfulRequests: z
      .int()
      .meta({ description: 'Those that were answered as they deserve, refusals too' }),
    failedRequests: z.int().meta({ description: 'Those with a status of 500 or more' }),
    avgDurationMs: z.number().meta({ description: 'Of all requests; 0 while there is none' }),
  })
  .meta({ id: 'RequestStatistics' })

/** The answer of /stats/requests. */
export type RequestStatistics = z.infer<typeof requestStatistics>

/** The answer of /stats/settlements. */
export const settlementStatistics = z
  .object({
    confirmed: z.int(),
    failed: z.int(),
    pending: z.int().meta({ description: 'Begun, with an outcome that is not known yet' }),
  })
  .meta({ id: 'SettlementStatistics' })

/** The answer of /stats/settlements. */
export type SettlementStatistics = z.infer<typeof settlementStatistics>
