import { describe, expect, it } from 'vitest'
import { createCallerCounts } from '../../../src/usecases/operator/callers.js'
import type { AnsweredRequest } from '../../../src/usecases/operator/useCases.js'
import { createManualClock } from '../../support/manualClock.js'

const minuteMs = 60_000
const request: AnsweredRequest = {
  accountId: null,
  network: '203.0.113.7',
  isSettle: false,
  durationMs: 10,
  reason: null,
}

const setup = () => {
  const clock = createManualClock()
  return { clock, ...createCallerCounts(clock) }
}

describe('the callers of the last hour', () => {
  it('are accounts, and addresses without a key, by each measure', () => {
    const { countCaller, readCallers } = setup()
    for (const network of ['203.0.113.7', '203.0.113.8']) {
      countCaller({ ...request, accountId: 'shop', network, isSettle: true, durationMs: 900 })
    }
    for (const reason of ['RATE_LIMITED', 'RATE_LIMITED', 'insufficient_funds', null]) {
      countCaller({ ...request, reason })
    }
    const { mostRequests, mostRefused, mostBusy, isComplete } = readCallers(10)
    const address = {
      accountId: null,
      network: '203.0.113.7',
      requests: 4,
      refused: 3,
      settles: 0,
      busyMs: 40,
      reasons: [
        { reason: 'RATE_LIMITED', count: 2 },
        { reason: 'insufficient_funds', count: 1 },
      ],
    }
    const shop = {
      accountId: 'shop',
      network: null,
      requests: 2,
      refused: 0,
      settles: 2,
      busyMs: 1_800,
      reasons: [],
    }
    expect(mostRequests).toEqual([address, shop])
    expect(mostRefused).toEqual([address])
    expect(mostBusy).toEqual([shop, address])
    expect(isComplete).toBe(true)
  })

  it('are summed over the hour, and forgotten after it', async () => {
    const { clock, countCaller, readCallers } = setup()
    countCaller(request)
    await clock.advance(30 * minuteMs)
    countCaller(request)
    expect(readCallers(1).mostRequests).toMatchObject([{ requests: 2 }])
    await clock.advance(31 * minuteMs)
    expect(readCallers(1).mostRequests).toMatchObject([{ requests: 1 }])
    await clock.advance(61 * minuteMs)
    expect(readCallers(1).mostRequests).toEqual([])
  })

  it('are as many as asked for', () => {
    const { countCaller, readCallers } = setup()
    for (let each = 0; each < 20; each++) countCaller({ ...request, network: `10.0.0.${each}` })
    expect(readCallers(5).mostRequests).toHaveLength(5)
  })

  it('hide behind no flood of addresses, whatever they lead by', () => {
    const { countCaller, readCallers } = setup()
    const flood = (many: number, from: number) => {
      for (let each = from; each < from + many; each++) {
        countCaller({ ...request, network: `flood ${each}`, durationMs: 1 })
      }
    }
    for (let round = 0; round < 10; round++) {
      for (let each = 0; each < 20; each++) countCaller({ ...request, accountId: 'asks much' })
      countCaller({ ...request, accountId: 'is slow', durationMs: 60_000 })
      for (let each = 0; each < 3; each++) {
        countCaller({ ...request, accountId: 'is refused', reason: 'FORBIDDEN' })
      }
      flood(2_000, round * 2_000)
    }
    const { mostRequests, mostRefused, mostBusy, isComplete } = readCallers(1)
    expect(mostRequests).toMatchObject([{ accountId: 'asks much', requests: 200 }])
    expect(mostBusy).toMatchObject([{ accountId: 'is slow', busyMs: 600_000 }])
    expect(mostRefused).toMatchObject([{ accountId: 'is refused', refused: 30 }])
    expect(isComplete).toBe(false)
  })

  it('hide behind no early leaders either', () => {
    const { countCaller, readCallers } = setup()
    const ask = (network: string, times: number) => {
      for (let each = 0; each < times; each++) countCaller({ ...request, network, durationMs: 0 })
    }
    for (let leader = 0; leader < 250; leader++) ask(`leader ${leader}`, 100)
    for (let round = 0; round < 10; round++) {
      ask('steady', 60)
      for (let each = 0; each < 1_500; each++) ask(`flood ${round} ${each}`, 1)
    }
    const [first] = readCallers(1).mostRequests
    expect(first).toMatchObject({ network: 'steady' })
    expect(first?.requests).toBeGreaterThan(400)
  })

  it('are bounded, with their reasons', () => {
    const { countCaller, readCallers } = setup()
    for (let each = 0; each < 50_000; each++) {
      countCaller({ ...request, network: `flood ${each}`, reason: `reason ${each % 500}` })
    }
    const { mostRequests } = readCallers(50_000)
    expect(mostRequests.length).toBeLessThanOrEqual(1_500)
    expect(Math.max(...mostRequests.map(({ reasons }) => reasons.length))).toBeLessThanOrEqual(5)
  })
})
