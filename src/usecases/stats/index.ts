import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Statistics } from '../../ports/statistics.js'
import { createReadStatistics } from './readStatistics.js'
import { createRequestTally } from './tallyRequests.js'
import type { StatsUseCases } from './useCases.js'

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
