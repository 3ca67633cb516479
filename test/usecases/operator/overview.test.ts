import { describe, expect, it } from 'vitest'
import type { NetworkState, OverviewStore } from '../../../src/ports/operatorOverview.js'
import type { Pause } from '../../../src/ports/operatorPauses.js'
import { operatorOverview } from '../../../src/protocol/operatorOverview.js'
import { createReadOverview } from '../../../src/usecases/operator/overview.js'
import { createManualClock } from '../../support/manualClock.js'

const since = new Date('2026-01-01T00:00:00Z')
const endpoint = { host: 'a.example', isUp: true, head: 100n, latencyMs: 31.25 }
const network: NetworkState = {
  network: 'toy:1',
  isServing: true,
  isRpcReachable: true,
  problem: null,
  balanceLevel: 'ok',
  signers: [
    { signer: '0xa', balance: 5n, settlementsLeft: 400 },
    { signer: '0xb', balance: 9n, settlementsLeft: 50, laneRepairs: 2 },
  ],
  endpoints: [
    endpoint,
    {
      ...endpoint,
      host: 'b.example',
      isUp: false,
      head: 97n,
      lastFailure: { message: 'No valid response from b.example: ECONNREFUSED', at: since },
    },
    { ...endpoint, host: 'c.example', head: null, latencyMs: null, wrongChain: '5' },
  ],
}

const never = () => new Promise<never>(() => undefined)

const setup = (
  changes: Partial<OverviewStore> = {},
  { pauses = [], deadlineMs = 50 }: { pauses?: readonly Pause[]; deadlineMs?: number } = {},
) => {
  const clock = createManualClock(since)
  const calls: string[] = []
  const store: OverviewStore = {
    countOpenSettlements: async () => {
      calls.push('open')
      return [{ network: 'toy:1', state: 'pending', count: 2, oldestSeconds: 3 }]
    },
    countOpenStreams: async () => [],
    listLanes: async () => [],
    countDay: async () => {
      calls.push('day')
      return [{ network: 'toy:1', confirmed: 190, failed: 10, lost: 1 }]
    },
    measureWebhooks: async () => ({ waiting: 0, isCountLimited: false, oldestSeconds: null }),
    measureWaitingWebhooks: async () => ({ due: 0, later: 0, oldestDueSeconds: 0, unattendedSeconds: 0 }),
    findLastNightly: async () => null,
    listJobs: async () => [],
    listInstances: async () => [],
    ...changes,
  }
  const read = createReadOverview({
    report: {
      version: '1.0.0',
      limiter: { store: 'redis', isDegraded: () => true },
      listNetworks: () => [network],
      listPools: () => [{ name: 'payments', max: 20, total: 3, idle: 1, waiting: 4 }],
      listJobs: () => [],
    },
    store,
    pingDatabase: async () => 'ok',
    listPauses: () => pauses,
    readReorgs: () => ({ reorged: 2, lost: 1 }),
    clock,
    deadlineMs,
  })
  return { read, clock, calls }
}

describe('the overview', () => {
  it('shows signers with the days that they last, and endpoints with their lag', async () => {
    const overview = operatorOverview.parse(await setup().read())
    const [seen] = overview.instance.networks
    // 200 settlements a day, by two signers.
    expect(seen?.signers).toMatchObject([
      { address: '0xa', balance: '5', daysLeft: 4, laneRepairs: null },
      { address: '0xb', daysLeft: 0.5, laneRepairs: 2 },
    ])
    expect(seen?.endpoints).toMatchObject([
      { host: 'a.example', lagBlocks: '0', latencyMs: 31.3, lastFailure: null },
      { host: 'b.example', lagBlocks: '3', lastFailure: { at: since.toISOString() } },
      { host: 'c.example', lagBlocks: null, latencyMs: null, wrongChain: '5' },
    ])
    expect(seen?.reorgs).toEqual({ reorged: 2, lost: 1 })
    expect(overview.instance.limiter).toEqual({ store: 'redis', isDegraded: true })
    expect(overview.unread).toEqual([])
  })

  it('shows what is paused of each network', async () => {
    const pauseOf = (target: Pause['target']): Pause => ({ target, reason: 'Why', by: null, since })
    const { read } = setup(
      {},
      {
        pauses: [
          pauseOf({ kind: 'network', network: 'toy:1' }),
          pauseOf({ kind: 'scheme', network: 'toy:1', scheme: 'upto' }),
          pauseOf({ kind: 'network', network: 'toy:2' }),
          pauseOf({ kind: 'account', accountId: 'shop' }),
        ],
      },
    )
    const { instance } = await read()
    expect(instance.networks[0]?.paused).toEqual([
      { scheme: null, reason: 'Why' },
      { scheme: 'upto', reason: 'Why' },
    ])
    expect(instance.pauses).toBe(4)
  })

  it('shows the rest while the database stalls, and asks it no second time meanwhile', async () => {
    let asked = 0
    const { read, clock } = setup({
      countOpenStreams: () => {
        asked += 1
        return never()
      },
    })
    const first = await read()
    expect(first.shared).toMatchObject({ openStreams: null, openSettlements: [{ count: 2 }] })
    expect(first.unread).toEqual([{ part: 'openStreams', reason: 'not read within 50 ms' }])
    await clock.advance(1_000)
    await read()
    expect(asked).toBe(1)
  })

  it('shows what this instance knows while the database answers nothing', async () => {
    const { read } = setup({
      countOpenSettlements: never,
      countOpenStreams: never,
      listLanes: never,
      measureWebhooks: never,
      findLastNightly: never,
      listJobs: never,
      listInstances: never,
      countDay: never,
    })
    const { instance, shared, unread } = operatorOverview.parse(await read())
    expect(instance.networks[0]?.signers[0]).toMatchObject({ settlementsLeft: 400, daysLeft: null })
    expect(shared).toMatchObject({ database: 'ok', openSettlements: null, lanes: null, instances: null })
    expect(unread.map(({ part }) => part).toSorted()).toEqual([
      'instances',
      'jobs',
      'lanes',
      'lastDay',
      'openSettlements',
      'openStreams',
      'reconciliation',
      'webhooks',
    ])
  })

  it('says of a part that fails that the database does not answer, and not more', async () => {
    const { read } = setup({
      listLanes: async () => {
        throw new Error('connect ECONNREFUSED postgres://user:secret@db')
      },
    })
    const { shared, unread } = await read()
    expect([shared.lanes, unread]).toEqual([
      null,
      [{ part: 'lanes', reason: 'the database does not answer' }],
    ])
  })

  it('is read once a second for all who ask, and the settlements of the day once a minute', async () => {
    const { read, clock, calls } = setup()
    await Promise.all([read(), read(), read()])
    expect(calls.toSorted()).toEqual(['day', 'open'])
    await clock.advance(1_000)
    await read()
    expect(calls.toSorted()).toEqual(['day', 'open', 'open'])
    await clock.advance(60_000)
    await read()
    expect(calls.toSorted()).toEqual(['day', 'day', 'open', 'open', 'open'])
  })

  it('does not count a day again at once that took too long', async () => {
    let asked = 0
    const { read, clock } = setup({
      countDay: async () => {
        asked += 1
        throw new Error('canceling statement due to statement timeout')
      },
    })
    await read()
    await clock.advance(1_000)
    expect((await read()).shared.lastDay).toBeNull()
    expect(asked).toBe(1)
  })
})
