import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { identifyEvm } from '../../../src/chains/evm/rpc/rpc.js'
import { RateLimitedError, RpcError } from '../../../src/chains/nodes/endpoint.js'
import { createEndpointPool } from '../../../src/chains/nodes/endpointPool.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createFakeEndpoint, type FakeEndpoint } from '../evm/rpc/fakeEndpoint.js'

const openPool = (endpoints: readonly FakeEndpoint[]) => {
  const logger = createMemoryLogger()
  let nowMs = 1_000_000
  const time = { monotonicMs: () => nowMs, unixSeconds: () => nowMs / 1_000 }
  const pool = createEndpointPool(endpoints, { identity: identifyEvm('eip155:84532'), logger, time })
  return {
    pool,
    logger,
    pass: (milliseconds: number) => {
      nowMs += milliseconds
    },
    nowMs: () => nowMs,
    seconds: () => nowMs / 1_000,
    hosts: async () => (await pool.findReaders()).map(({ name }) => name),
    receivers: async () => (await pool.findReceivers()).map(({ name }) => name),
    find: async (host: string) => {
      const found = (await pool.findReaders()).find(({ name }) => name === host)
      if (found === undefined) throw new Error(`${host} is not a reader`)
      return found
    },
  }
}

const gone = { '*': () => new Error('connection reset') }
const openTwo = async () => {
  const [first, second] = [createFakeEndpoint('first'), createFakeEndpoint('second')]
  const opened = openPool([first, second])
  await opened.pool.probe()
  return { first, second, ...opened }
}

describe('endpoint selection for reads', () => {
  it('prefers the first configured endpoint while all are healthy', async () => {
    const { hosts } = await openTwo()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('switches after a failure, and returns to the first endpoint once it has been stable for a minute', async () => {
    const { first, hosts, find, nowMs, pass, pool } = await openTwo()
    const failing = await find('first')
    first.answer(gone)
    failing.onFailure(nowMs(), new Error('reset'))
    expect(await hosts()).toEqual(['second'])
    first.heal()
    pass(30_000)
    await pool.probe()
    expect(await hosts()).toEqual(['second', 'first'])
    pass(30_000)
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('doubles the back-off after each failure, and counts the failures of one incident once', async () => {
    const { find, hosts, nowMs, pass, pool } = await openTwo()
    const failing = await find('first')
    const fail = (startedAtMs: number) => failing.onFailure(startedAtMs, new Error('timeout'))
    const startedAtMs = nowMs()
    pass(10)
    for (let request = 0; request < 100; request++) fail(startedAtMs)
    await pool.probe()
    pass(1_001)
    expect(await hosts()).toContain('first')
    fail(nowMs())
    await pool.probe()
    pass(1_001)
    // Still a candidate, should the other one fail during a request.
    expect(await hosts()).toEqual(['second', 'first'])
    expect(pool.report()[0]).toMatchObject({ isUp: false })
    pass(1_000)
    expect(pool.report()[0]).toMatchObject({ isUp: true })
  })

  it('remembers the last failure of an endpoint, without keys, also once it is healthy again', async () => {
    const { find, pool, nowMs, pass } = await openTwo()
    const failing = await find('first')
    expect(pool.report()[0]).toMatchObject({ lastFailure: null })
    const at = new Date(nowMs())
    failing.onFailure(nowMs(), new Error(`https://node.example/v2/${'k'.repeat(32)} ${'x'.repeat(400)}`))
    pass(60_000)
    await pool.probe()
    const [report] = pool.report()
    expect(report).toMatchObject({ isUp: true, lastFailure: { at } })
    expect(report?.lastFailure?.message).not.toContain('kkk')
    expect(report?.lastFailure?.message.length).toBeLessThanOrEqual(200)
  })

  it('keeps using the only endpoint while it backs off, unless it fails the next probe', async () => {
    const only = createFakeEndpoint('only')
    const { find, hosts, nowMs } = openPool([only])
    const health = await find('only')
    health.onFailure(nowMs(), new Error('reset'))
    expect(await hosts()).toEqual(['only'])
    only.answer(gone)
    health.onFailure(nowMs(), new Error('reset'))
    expect(await hosts()).toEqual([])
  })

  it('does not use a rate-limited endpoint before its Retry-After has passed', async () => {
    const { find, hosts, nowMs, pass, receivers, logger } = await openTwo()
    const busy = await find('first')
    busy.onFailure(nowMs(), new RateLimitedError(7_000))
    expect(await hosts()).toEqual(['second'])
    expect(await receivers()).toEqual(['second'])
    expect(logger.messages()).toContain('rpc.rate_limited')
    pass(6_999)
    expect(await hosts()).toEqual(['second'])
    pass(1)
    expect(await hosts()).toEqual(['second', 'first'])
  })

  it('backs off briefly after a rate limit without Retry-After', async () => {
    const { find, pool, nowMs, pass } = await openTwo()
    const busy = await find('first')
    busy.onFailure(nowMs(), new RpcError(-32005, 'project ID request rate exceeded', null))
    expect(pool.report()[0]).toMatchObject({ isUp: false })
    pass(1_000)
    expect(pool.report()[0]).toMatchObject({ isUp: true })
  })

  it.each([
    ['switches to an endpoint that is clearly faster', 200, ['near', 'far']],
    ['keeps its endpoint when another one is only a little faster', 15, ['far', 'near']],
  ])('%s', async (_what, milliseconds, expected) => {
    const [far, near] = [createFakeEndpoint('far'), createFakeEndpoint('near')]
    const { pool, pass, hosts } = openPool([far, near])
    far.answer({
      eth_chainId: async () => {
        // The other endpoint has responded by now.
        await drainEventLoop()
        pass(milliseconds)
        return '0x14a34'
      },
    })
    await pool.probe()
    expect(await hosts()).toEqual(expected)
  })

  it('pins the endpoint that responded while the pinned one was silent, for a minute', async () => {
    const { pool, find, hosts, pass } = await openTwo()
    pool.promote(await find('first'), await find('second'))
    expect(await hosts()).toEqual(['second', 'first'])
    pass(60_000)
    expect(await hosts()).toEqual(['first', 'second'])
  })
})

describe('lagging endpoints', () => {
  it('are not read from and logged once, still receive transactions, and are used again when they catch up', async () => {
    const { first, second, pool, hosts, receivers, seconds, logger } = await openTwo()
    first.setHead(200, seconds() - 10)
    second.setHead(205, seconds())
    await pool.probe()
    await pool.probe()
    expect(await hosts()).toEqual(['second'])
    expect(pool.listHealthy()).toHaveLength(1)
    expect(await receivers()).toEqual(['first', 'second'])
    expect(logger.messages().filter((line) => line.startsWith('rpc.lagging'))).toHaveLength(1)
    first.setHead(205, seconds())
    await pool.probe()
    expect(await hosts()).toEqual(['second', 'first'].sort())
  })

  it.each([
    ['one block', 204, 30],
    ['some blocks of a fast chain', 190, 5],
  ])('do not include an endpoint that is behind by %s', async (_what, number, age) => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(number, seconds() - age)
    second.setHead(205, seconds())
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('do not include an endpoint within the usual block time of its chain', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(201, seconds() - 40)
    await pool.probe()
    first.setHead(203, seconds() - 16)
    second.setHead(205, seconds())
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('do not include an honest endpoint when another one reports a head in the future (A17)', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(205, seconds() - 2)
    second.setHead(1_000_000, seconds() + 1_000_000)
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('are read from when no other endpoint is available', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(200, seconds() - 60)
    second.setHead(205, seconds())
    await pool.probe()
    second.answer(gone)
    await pool.probe()
    expect(await hosts()).toEqual(['first'])
  })
})

describe('endpoints of another chain', () => {
  const other = { eth_chainId: () => '0x1' }

  it('are never read from or broadcast to, even without an alternative', async () => {
    const strange = createFakeEndpoint('strange')
    strange.answer(other)
    const { hosts, receivers, pool, logger } = openPool([strange])
    expect(await hosts()).toEqual([])
    expect(await receivers()).toEqual([])
    await pool.probe()
    expect(pool.report()).toMatchObject([{ host: 'strange', isUp: false, wrongChain: '1' }])
    const loud = logger.lines.filter(({ level }) => level === 'error')
    expect(loud).toMatchObject([{ fields: { host: 'strange', chain: '1' } }])
  })

  it('are not used for a single request after an outage', async () => {
    const { first, pool, hosts, receivers, find, nowMs, pass } = await openTwo()
    const failing = await find('first')
    failing.onFailure(nowMs(), new Error('reset'))
    first.answer(other)
    pass(60_000)
    expect(await hosts()).toEqual(['second'])
    expect(await receivers()).toEqual(['second'])
    await pool.probe()
    expect(await hosts()).toEqual(['second'])
    first.heal()
    await pool.probe()
    expect(await hosts()).toContain('first')
  })

  it('are detected by the next probe when they change chains without a failure', async () => {
    const { first, pool, hosts } = await openTwo()
    first.answer(other)
    await pool.probe()
    expect(await hosts()).toEqual(['second'])
  })
})

describe('a probe', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** The second endpoint answers once it is released; `probe` says when it has ended. */
  const openSlow = () => {
    const [fast, slow] = [createFakeEndpoint('fast'), createFakeEndpoint('slow')]
    let release = (_chain: string): void => undefined
    const chain = new Promise<string>((resolve) => {
      release = resolve
    })
    slow.answer({ eth_chainId: () => chain })
    const { pool } = openPool([fast, slow])
    const probe = () => {
      const ended = vi.fn()
      void pool.probe().then(ended)
      return ended
    }
    return { pool, probe, release }
  }

  it('waits seconds for the chain of an endpoint the first time, so that the start sees a wrong one', async () => {
    const { pool, probe, release } = openSlow()
    const ended = probe()
    await vi.advanceTimersByTimeAsync(4_999)
    expect(ended).not.toHaveBeenCalled()
    release('0x1')
    await drainEventLoop()
    expect(ended).toHaveBeenCalledWith(true)
    expect(pool.report()[1]).toMatchObject({ host: 'slow', wrongChain: '1' })
  })

  it('waits 5 s for a silent endpoint the first time, and 1 s later on', async () => {
    const { probe } = openSlow()
    for (const waitedMs of [5_000, 1_000]) {
      const ended = probe()
      await vi.advanceTimersByTimeAsync(waitedMs - 1)
      expect(ended).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(ended).toHaveBeenCalledWith(true)
    }
  })
})

describe('several endpoints on one host', () => {
  it('are numbered in reports, without the rest of their URL', () => {
    const { pool } = openPool([createFakeEndpoint('a'), createFakeEndpoint('b'), createFakeEndpoint('a')])
    expect(pool.report().map(({ host }) => host)).toEqual(['a', 'b', 'a#2'])
  })
})
