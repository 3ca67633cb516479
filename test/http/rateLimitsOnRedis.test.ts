import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compose, type Service } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { startTestRedis, type TestRedis } from '../support/redis.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'

const startedServer = await startTestRedis()
afterAll(() => startedServer?.stop())

const getServer = (): TestRedis => {
  if (startedServer === null) throw new Error('This test needs a redis-server')
  return startedServer
}

describe.skipIf(startedServer === null)('four instances on one Redis', () => {
  it.each([
    ['an anonymous caller', ''],
    ['a key of the tier scale', 'scale'],
  ])(
    'allow exactly 1,000 of 4,000 requests of %s',
    async (_who, key) => {
      const keyPrefix = `test:${randomUUID()}:`
      const children = await Promise.all(Array.from({ length: 4 }, startChild))
      const answers = await Promise.all(
        children.map(async (child) => {
          const answer = once(child, 'message')
          child.send({ url: getServer().url, keyPrefix, key, requests: 1_000 })
          return counted.parse(await answer)[0]
        }),
      )
      const sum = (pick: (answer: Counted) => number) =>
        answers.reduce((total, each) => total + pick(each), 0)
      expect([sum(({ allowed }) => allowed), sum(({ refused }) => refused)]).toEqual([1_000, 3_000])
    },
    60_000,
  )
})

describe.skipIf(startedServer?.isOwn !== true)('the service, when Redis fails,', () => {
  let database: TestDatabase
  let proxy: TcpProxy
  let service: Service
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    proxy = await startTcpProxy(getServer().port)
    service = await startService()
  })
  afterEach(async () => {
    await service.close()
    await proxy.close()
  })

  const startService = (): Promise<Service> =>
    compose(
      readConfig({
        DATABASE_URL: database.url,
        REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
        LOG_LEVEL: 'silent',
      }),
    )
  const remainingOf = async ({ app }: Service, address = '198.51.100.7'): Promise<number> =>
    Number((await app.inject({ url: '/supported', remoteAddress: address })).headers['x-ratelimit-remaining'])

  const faults: readonly (readonly [string, () => void | Promise<void>, () => void | Promise<void>])[] = [
    ['the network hangs', () => proxy.hang(), () => proxy.pass()],
    ['responses are too late', () => proxy.delay(400), () => proxy.pass()],
    ['connections are refused', () => proxy.refuse(), () => proxy.pass()],
    ['the server hangs', () => getServer().hang(), () => getServer().resume()],
    ['the server is killed', () => getServer().stop(), () => getServer().restart()],
  ]

  it('keeps counting in Redis while responses are slow', async () => {
    // The bucket refills by one every 60 ms, so a difference of one is noise on a busy machine.
    await Promise.all(Array.from({ length: 40 }, () => remainingOf(service)))
    // Each way; a millisecond more than asserted, because timers can fire up to one early.
    proxy.delay(11)
    const slow = await timed(() => remainingOf(service))
    // A local count would start again at 999.
    expect(slow.value).toBeLessThan(990)
    expect(slow.ms).toBeGreaterThanOrEqual(20)
    expect(await readStore(service)).toEqual({ status: 200, store: 'ok', gauge: '0' })
  })

  it('serves every request while connections are reset, then counts in Redis again', async () => {
    const address = '203.0.113.77'
    await remainingOf(service, address)
    for (let round = 0; round < 5; round += 1) {
      await proxy.reset()
      const answers = await Promise.all(
        Array.from({ length: 4 }, () =>
          timed(() => service.app.inject({ url: '/supported', remoteAddress: address })),
        ),
      )
      expect(answers.map(({ value }) => value.statusCode)).toEqual([200, 200, 200, 200])
      expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(500)
    }
    await pollUntil(async () => (await readStore(service)).store === 'ok', 'the recovery')
    expect(await remainingOf(service, address)).toBeLessThan(999)
  })

  it('gives each of two instances half of every limit', async () => {
    const second = await startService()
    await proxy.refuse()
    expect(await remainingOf(second)).toBe(499)
    expect(await remainingOf(second)).toBe(498)
    // The first instance detects the second at its next heartbeat.
    let stranger = 0
    const askAsStranger = () => {
      stranger += 1
      return remainingOf(service, `192.0.2.${stranger}`)
    }
    await pollUntil(async () => (await askAsStranger()) === 499, 'the heartbeat')
    await second.close()
  })

  it.each(faults.filter(([fault]) => fault.startsWith('the server')))(
    '%s: /ready says degraded about a second later, although no request uses Redis',
    async (_fault, fail, heal) => {
      const store = async () => ready.parse((await service.app.inject('/ready')).json()).checks.store
      expect(await store()).toBe('ok')
      await fail()
      const took = await timed(() =>
        pollUntil(async () => (await store()) === 'degraded', 'the fault to show'),
      )
      // An answer is kept for a second; a hanging Redis takes 150 ms more.
      expect(took.ms).toBeLessThan(1_500)
      await heal()
      await pollUntil(async () => (await store()) === 'ok', 'the recovery')
    },
    30_000,
  )

  it.each(faults)(
    '%s: continues immediately, counts locally, reports it, and recovers',
    async (_fault, fail, heal) => {
      const remaining = () => remainingOf(service)
      // Both probes are up to a second old.
      const untilStoreIs = (store: string, gauge: string) =>
        pollUntil(
          async () => isDeepStrictEqual(await readStore(service), { status: 200, store, gauge }),
          `the store to be ${store}`,
        )
      const register = () => service.app.inject({ method: 'POST', url: '/register' })
      await untilStoreIs('ok', '0')
      await remaining()

      await fail()
      const first = await timed(remaining)
      expect(first.ms).toBeLessThan(500)
      expect(first.value).toBe(999)
      const rest = await timed(async () => {
        const counts: number[] = []
        for (let request = 0; request < 30; request += 1) counts.push(await remaining())
        return counts
      })
      expect(rest.value).toEqual(Array.from({ length: 30 }, (_, index) => 998 - index))
      // About one command timeout in total: no request waited for Redis.
      expect(rest.ms).toBeLessThan(300)
      await untilStoreIs('degraded', '1')
      // The route, if registered, must be closed.
      expect([404, 503]).toContain((await register()).statusCode)

      await heal()
      await untilStoreIs('ok', '0')
    },
    30_000,
  )
})

const counted = z.tuple([z.object({ allowed: z.number(), refused: z.number() })]).rest(z.unknown())
type Counted = z.infer<typeof counted>[0]

const ready = z.object({ checks: z.looseObject({ store: z.string() }) })

const readStore = async ({ app }: Service) => {
  const readiness = await app.inject('/ready')
  const { body } = await app.inject('/metrics')
  return {
    status: readiness.statusCode,
    store: ready.parse(readiness.json()).checks.store,
    gauge: /^quittance_limiter_degraded (\d)$/m.exec(body)?.[1],
  }
}

const startChild = async (): Promise<ChildProcess> => {
  const { flags, file } = findProgram(new URL('./support/requestMany.ts', import.meta.url))
  const child = fork(file, { execArgv: [...flags] })
  await once(child, 'message')
  return child
}

const timed = async <T>(run: () => Promise<T>): Promise<{ ms: number; value: T }> => {
  const startedAt = performance.now()
  const value = await run()
  return { ms: performance.now() - startedAt, value }
}
