import type { RequestTotals, Statistics } from '../../ports/statistics.js'

/** An answered request. */
export interface TalliedRequest {
  readonly status: number
  readonly durationMs: number
}

/** Adds up requests in the process, so that none of them waits for the database. */
export interface RequestTally {
  countRequest(request: TalliedRequest): void
  /** Writes down what was counted since the last time; what could not be written stays counted. */
  flush(): Promise<void>
}

const none: RequestTotals = { requests: 0, failures: 0, durationMs: 0 }

const add = (left: RequestTotals, right: RequestTotals): RequestTotals => ({
  requests: left.requests + right.requests,
  failures: left.failures + right.failures,
  durationMs: left.durationMs + right.durationMs,
})

/** Creates an empty tally. A request has failed when we failed, not when it was refused. */
export const createRequestTally = (statistics: Pick<Statistics, 'addRequests'>): RequestTally => {
  let counted = none
  return {
    countRequest: ({ status, durationMs }) => {
      counted = add(counted, { requests: 1, failures: status >= 500 ? 1 : 0, durationMs })
    },
    flush: async () => {
      if (counted.requests === 0) return
      const taken = counted
      counted = none
      try {
        await statistics.addRequests(taken)
      } catch (error) {
        counted = add(counted, taken)
        throw error
      }
    },
  }
}
