import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Statistics } from '../../ports/statistics.js'
import { cacheFor } from '../cacheFor.js'
import type { StatsUseCases } from '../useCases.js'
import { createRequestTally } from './tallyRequests.js'

interface Stats {
  readonly useCases: StatsUseCases
  readonly jobs: Readonly<Record<'flushRequestStatistics', Job>>
}

export const createStats = (statistics: Statistics, clock: Clock): Stats => {
  const tally = createRequestTally(statistics)
  return {
    useCases: { countRequest: tally.countRequest, ...createReadStatistics(statistics, clock) },
    jobs: { flushRequestStatistics: { everyMs: 1_000, run: tally.flush } },
  }
}

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
