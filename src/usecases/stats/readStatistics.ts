import type { Clock } from '../../ports/clock.js'
import type { Statistics } from '../../ports/statistics.js'
import { cacheFor } from '../cacheFor.js'
import type { StatsUseCases } from './useCases.js'

const requestsMaxAgeMs = 1_000
// Anyone may ask, and every reading goes through the whole journal.
const settlementsMaxAgeMs = 10_000

/** Tells the public what was counted, some seconds ago. */
export const createReadStatistics = (
  statistics: Statistics,
  clock: Clock,
): Pick<StatsUseCases, 'readRequestStatistics' | 'readSettlementStatistics'> => {
  const readRequests = cacheFor(clock, requestsMaxAgeMs, statistics.readRequests)
  return {
    readRequestStatistics: async () => {
      const { requests, failures, durationMs } = await readRequests()
      return {
        totalRequests: requests,
        successfulRequests: requests - failures,
        failedRequests: failures,
        avgDurationMs: requests === 0 ? 0 : Math.round((durationMs / requests) * 100) / 100,
      }
    },
    readSettlementStatistics: cacheFor(clock, settlementsMaxAgeMs, statistics.countSettlements),
  }
}
