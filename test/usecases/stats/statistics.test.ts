import { describe, expect, it } from 'vitest'
import type { RequestBatch, RequestTotals, Statistics } from '../../../src/ports/statistics.js'
import { createReadStatistics, createRequestCounter } from '../../../src/usecases/stats/index.js'
import { createManualClock } from '../../support/manualClock.js'

const setup = (given: Partial<Statistics> = {}) => {
  const clock = createManualClock()
  const added: RequestTotals[] = []
  const statistics: Statistics = {
    addRequests: async ({ source: _, sequence: __, ...totals }) => void added.push(totals),
    readRequests: async () => ({ requests: 3, failures: 1, durationMs: 10 }),
    countSettlements: async () => ({ confirmed: 1, failed: 2, pending: 3 }),
    ...given,
  }
  return {
    clock,
    added,
    counter: createRequestCounter(statistics),
    read: createReadStatistics(statistics, clock),
  }
}

describe('the request counter', () => {
  it('writes the sum since the last flush, and nothing without requests', async () => {
    const { counter, added } = setup()
    await counter.flush()
    for (const status of [200, 404, 429, 499, 500, 503]) counter.countRequest({ status, durationMs: 10 })
    await counter.flush()
    await counter.flush()
    // 4xx, 5xx, and 499: the client disconnected before the response.
    expect(added).toEqual([{ requests: 6, failures: 5, durationMs: 60 }])
  })

  it('writes a batch again that could not be written, as the same batch', async () => {
    const written: RequestBatch[] = []
    let isDown = true
    const { counter } = setup({
      addRequests: async (batch) => {
        written.push(batch)
        if (isDown) throw new Error('down')
      },
    })
    counter.countRequest({ status: 200, durationMs: 1 })
    const flushed = counter.flush()
    counter.countRequest({ status: 500, durationMs: 2 })
    await expect(flushed).rejects.toThrow('down')
    isDown = false
    await counter.flush()
    const [first] = written
    expect(written).toEqual([
      { source: first?.source, sequence: 1, requests: 1, failures: 0, durationMs: 1 },
      first,
      { source: first?.source, sequence: 2, requests: 1, failures: 1, durationMs: 2 },
    ])
  })
})

describe('statistics', () => {
  it('contain the mean duration, rounded to 0.01 ms', async () => {
    expect(await setup().read.readRequestStatistics()).toEqual({
      totalRequests: 3,
      successfulRequests: 2,
      failedRequests: 1,
      avgDurationMs: 3.33,
    })
  })

  it('contain a duration of 0 without requests', async () => {
    const { read } = setup({ readRequests: async () => ({ requests: 0, failures: 0, durationMs: 0 }) })
    expect(await read.readRequestStatistics()).toMatchObject({ totalRequests: 0, avgDurationMs: 0 })
  })

  it('scan the journal at most every ten seconds', async () => {
    let readings = 0
    const { read, clock } = setup({
      countSettlements: async () => {
        readings += 1
        return { confirmed: readings, failed: 0, pending: 0 }
      },
    })
    await Promise.all([read.readSettlementStatistics(), read.readSettlementStatistics()])
    await clock.advance(9_999)
    expect(await read.readSettlementStatistics()).toMatchObject({ confirmed: 1 })
    await clock.advance(1)
    expect(await read.readSettlementStatistics()).toMatchObject({ confirmed: 2 })
  })
})
