import type { Clock } from '../../ports/clock.js'
import type { Statistics } from '../../ports/statistics.js'
import { cacheFor } from '../cacheFor.js'
import type { StatsUseCases } from './useCases.js'

const requestsMaxAgeMs = 1_000
// Public endpoint.
const settlementsMaxAgeMs = 10_000

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
