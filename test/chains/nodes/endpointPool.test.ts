import { describe, expect, it } from 'vitest'
import { identifyEvm } from '../../../src/chains/evm/rpc/identity.js'
import { RpcRefusal } from '../../../src/chains/nodes/endpoint.js'
import { createEndpointPool } from '../../../src/chains/nodes/endpointPool.js'
import { RateLimitedError } from '../../../src/chains/nodes/rateLimitedError.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { after, createFakeEndpoint, type FakeEndpoint } from '../evm/rpc/fakeEndpoint.js'

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
      if (found === undefined) throw new Error(`${host} is no reader`)
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

describe('the endpoint that is read from', () => {
  it('is the first of the configuration while all are well', async () => {
    const { hosts } = await openTwo()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('is another one after a failure, and for good while that one is well for less than a minute', async () => {
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

  it('rests longer after each failure, and one incident counts once however many requests it ends', async () => {
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
    // To be asked if the other one fails in the middle of a request.
    expect(await hosts()).toEqual(['second', 'first'])
    expect(pool.report()[0]).toMatchObject({ isUp: false })
    pass(1_000)
    expect(pool.report()[0]).toMatchObject({ isUp: true })
  })

  it('is the only one even while it rests, because there is no other', async () => {
    const only = createFakeEndpoint('only')
    const { find, hosts, nowMs } = openPool([only])
    const health = await find('only')
    health.onFailure(nowMs(), new Error('reset'))
    expect(await hosts()).toEqual(['only'])
    only.answer(gone)
    health.onFailure(nowMs(), new Error('reset'))
    expect(await hosts()).toEqual([])
  })

  it('is not one that asked to be left alone, until the time that it named', async () => {
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

  it('is left alone for a moment when it says so without a time', async () => {
    const { find, pool, nowMs, pass } = await openTwo()
    const busy = await find('first')
    busy.onFailure(nowMs(), new RpcRefusal(-32005, 'project ID request rate exceeded', null))
    expect(pool.report()[0]).toMatchObject({ isUp: false })
    pass(1_000)
    expect(pool.report()[0]).toMatchObject({ isUp: true })
  })

  it.each([
    ['changes for one that is clearly faster', 200, ['near', 'far']],
    ['does not change for one that is a little faster', 15, ['far', 'near']],
  ])('%s', async (_what, milliseconds, expected) => {
    const [far, near] = [createFakeEndpoint('far'), createFakeEndpoint('near')]
    const { pool, pass, hosts } = openPool([far, near])
    far.answer({
      eth_chainId: async () => {
        // The other has answered by now.
        await after(5, null)
        pass(milliseconds)
        return '0x14a34'
      },
    })
    await pool.probe()
    expect(await hosts()).toEqual(expected)
  })

  it('is the one that answered while the other was silent', async () => {
    const { pool, find, hosts, pass } = await openTwo()
    pool.promote(await find('first'), await find('second'))
    expect(await hosts()).toEqual(['second', 'first'])
    pass(60_000)
    expect(await hosts()).toEqual(['first', 'second'])
  })
})

describe('an endpoint that lags', () => {
  it('is not read from, is named once, still gets transactions, and comes back', async () => {
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
  ])('is not one that is behind by %s', async (_what, number, age) => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(number, seconds() - age)
    second.setHead(205, seconds())
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('is not one whose chain has long block times', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(201, seconds() - 40)
    await pool.probe()
    first.setHead(203, seconds() - 16)
    second.setHead(205, seconds())
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('is not made of an honest one by a head from the future (A17)', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(205, seconds() - 2)
    second.setHead(1_000_000, seconds() + 1_000_000)
    await pool.probe()
    expect(await hosts()).toEqual(['first', 'second'])
  })

  it('is read from when there is no other', async () => {
    const { first, second, pool, hosts, seconds } = await openTwo()
    first.setHead(200, seconds() - 60)
    second.setHead(205, seconds())
    await pool.probe()
    second.answer(gone)
    await pool.probe()
    expect(await hosts()).toEqual(['first'])
  })
})

describe('an endpoint of another chain', () => {
  const other = { eth_chainId: () => '0x1' }

  it('is never read from and gets nothing, also when it is the only one', async () => {
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

  it('that was down before is not used for one request', async () => {
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

  it('is found out by the next probe when it changes without a failure', async () => {
    const { first, pool, hosts } = await openTwo()
    first.answer(other)
    await pool.probe()
    expect(await hosts()).toEqual(['second'])
  })
})

describe('several endpoints of one host', () => {
  it('are told apart by number, never by their URL', () => {
    const { pool } = openPool([createFakeEndpoint('a'), createFakeEndpoint('b'), createFakeEndpoint('a')])
    expect(pool.report().map(({ host }) => host)).toEqual(['a', 'b', 'a#2'])
  })
})
