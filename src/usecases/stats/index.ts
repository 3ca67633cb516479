import { randomUUID } from 'node:crypto'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { RequestBatch, RequestTotals, Statistics } from '../../ports/statistics.js'
import { cacheFor } from '../cacheFor.js'
import type { CountedRequest, StatsUseCases } from '../useCases.js'

interface Stats {
  readonly useCases: StatsUseCases
  readonly jobs: Readonly<Record<'flushRequestStatistics', Job>>
}

export const createStats = (statistics: Statistics, clock: Clock): Stats => {
  const counter = createRequestCounter(statistics)
  return {
    useCases: { countRequest: counter.countRequest, ...createReadStatistics(statistics, clock) },
    jobs: { flushRequestStatistics: { everyMs: 1_000, run: counter.flush } },
  }
}

const requestsMaxAgeMs = 1_000
// The endpoint is public.
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

/** Counts in memory, so that no request waits for the database. */
interface RequestCounter {
  countRequest(request: CountedRequest): void
  /** On failure the counts are kept for the next flush; a batch that was written all the same is not counted twice. */
  flush(): Promise<void>
}

const none: RequestTotals = { requests: 0, failures: 0, durationMs: 0 }

const add = (left: RequestTotals, right: RequestTotals): RequestTotals => ({
  requests: left.requests + right.requests,
  failures: left.failures + right.failures,
  durationMs: left.durationMs + right.durationMs,
})

/** Every 4xx and 5xx response is a failure, also 499: the client disconnected before the response. */
export const createRequestCounter = (statistics: Pick<Statistics, 'addRequests'>): RequestCounter => {
  const source = randomUUID()
  let pending = none
  let sequence = 0
  let unwritten: RequestBatch | null = null

  const write = async (batch: RequestBatch): Promise<void> => {
    unwritten = batch
    await statistics.addRequests(batch)
    unwritten = null
  }

  return {
    countRequest: ({ status, durationMs }) => {
      pending = add(pending, { requests: 1, failures: status >= 400 ? 1 : 0, durationMs })
    },
    flush: async () => {
      if (unwritten !== null) await write(unwritten)
      if (pending.requests === 0) return
      sequence += 1
      const batch = { source, sequence, ...pending }
      pending = none
      await write(batch)
    },
  }
}
