import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { compose, type Service } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createCircuit } from '../../src/stores/redis/client.js'
import { createRedisRateLimiter } from '../../src/stores/redis/rateLimiter.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { startTestRedis, type TestRedis } from '../support/redis.js'
import { spawnChild } from '../support/spawnChild.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { limitedApp } from './support/limitedApp.js'
import { withLongWindows } from './support/longWindows.js'

const startedServer = await startTestRedis()
afterAll(() => startedServer?.stop())

const getServer = (): TestRedis => {
  if (startedServer === null) throw new Error('This test needs a redis-server')
  return startedServer
}

describe.skipIf(startedServer === null)('four instances on one Redis', () => {
  // Anonymous, and of the tier scale. Each instance sends the requests of both callers.
  const keys = ['', 'scale']
  let answers: readonly (readonly Counted[])[]
  beforeAll(async () => {
    const keyPrefix = `test:${randomUUID()}:`
    const children = await Promise.all(Array.from({ length: 4 }, startChild))
    answers = await Promise.all(
      children.map(async (child) => {
        const answer = once(child, 'message')
        child.send({ url: getServer().url, keyPrefix, keys, requests: 1_000 })
        return counted.parse(await answer)[0].counts
      }),
    )
  })

  it.each([
    ['an anonymous caller', ''],
    ['a key of the tier scale', 'scale'],
  ])('allow exactly 1,000 of 4,000 requests of %s', (_who, key) => {
    const sum = (name: keyof Counted) =>
      answers.reduce((total, counts) => total + (counts[keys.indexOf(key)]?.[name] ?? 0), 0)
    expect([sum('allowed'), sum('refused')]).toEqual([1_000, 3_000])
  })
})

describe.skipIf(startedServer === null)('two instances on one Redis', () => {
  const keyPrefix = `test:${randomUUID()}:`
  const openInstance = () => {
    const redis = new Redis(getServer().url)
    const circuit = createCircuit({ redis, clock: systemClock, logger: silentLogger })
    const fallback = createMemoryRateLimiter({ clock: systemClock })
    const limiter = createRedisRateLimiter({ redis, circuit, fallback, keyPrefix })
    const app = limitedApp({
      limiter: withLongWindows(limiter),
      clock: systemClock,
      figures: { registrationsPerMinute: 2 },
    })
    const register = async (remoteAddress: string) =>
      (await app.inject({ method: 'POST', url: '/register', remoteAddress })).statusCode
    return { register, close: () => redis.disconnect() }
  }
  const [one, other] = [openInstance(), openInstance()]
  afterAll(() => {
    one.close()
    other.close()
  })

  it('share the windows of registration, of newcomers too, and know whom the other one served', async () => {
    expect(await one.register('203.0.113.7')).toBe(200)
    expect(await other.register('198.51.100.7')).toBe(200)
    // Served by the other instance.
    expect(await one.register('198.51.100.7')).toBe(429)
    expect(await other.register('203.0.113.7')).toBe(429)
    expect(await one.register('2001:db8:1:1::1')).toBe(200)
    expect(await other.register('2001:db8:1:2::1')).toBe(429)
    expect(await other.register('192.0.2.1')).toBe(200)
    expect(await one.register('198.18.0.1')).toBe(429)
  })
})

describe.skipIf(startedServer?.isOwn !== true)('the service, when Redis fails,', () => {
  const database = useTestDatabase()
  let proxy: TcpProxy
  let service: Service
  beforeAll(async () => {
    proxy = await startTcpProxy(getServer().port)
    service = await startService()
  })
  afterAll(async () => {
    await service.close()
    await proxy.close()
  })
  afterEach(() => vi.restoreAllMocks())

  const startService = (): Promise<Service> =>
    compose(
      readConfig({
        DATABASE_URL: database.url,
        SANDBOX: 'false',
        REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
        LOG_LEVEL: 'silent',
      }),
    )
  let strangers = 0
  const newAddress = (): string => {
    strangers += 1
    return `198.18.${Math.floor(strangers / 250)}.${(strangers % 250) + 1}`
  }
  const ask = (address: string, { app }: Service = service) =>
    app.inject({ url: '/supported', remoteAddress: address })
  const remainingOf = async (address: string, asked: Service = service): Promise<number> =>
    Number((await ask(address, asked)).headers['x-ratelimit-remaining'])
  // Both probes are up to a second old.
  const untilStoreIs = (store: string, gauge: string) =>
    pollUntil(
      async () => isDeepStrictEqual(await readStore(service), { status: 200, store, gauge }),
      `the store to be ${store}`,
      () => readStore(service),
    )
  /** Asks until Redis has counted a request: a busy machine can exceed the timeout of a command. */
  const untilRedisCounts = (address: string) =>
    pollUntil(async () => {
      const before = await countInRedis(address)
      await ask(address)
      return (await countInRedis(address)) > before
    }, 'a request to be counted in Redis')
  /** An address with two requests that Redis has counted, and this process has not. */
  const findCounted = () =>
    pollUntil(async () => {
      const address = newAddress()
      await ask(address)
      return (await remainingOf(address)) === 998 && (await countInRedis(address)) === 2 && address
    }, 'two requests to be counted in Redis')

  /** Repeats it for another address where a window of a minute ends meanwhile. */
  const untilCountsDownFrom = async (first: number, requests: number, asked: Service = service) => {
    let counts: number[] = []
    await pollUntil(
      async () => {
        const address = newAddress()
        counts = []
        for (let request = 0; request < requests; request += 1) counts.push(await remainingOf(address, asked))
        return counts.every((count, index) => count === first - index)
      },
      `${requests} requests to be counted down from ${first}`,
      () => counts,
    )
  }

  const faults: readonly (readonly [string, () => void | Promise<void>, () => void | Promise<void>])[] = [
    ['the network hangs', () => proxy.hang(), () => proxy.pass()],
    ['responses are too late', () => proxy.delay(400), () => proxy.pass()],
    ['connections are refused', () => proxy.refuse(), () => proxy.pass()],
    ['the server hangs', () => getServer().hang(), () => getServer().resume()],
    ['the server is killed', () => getServer().stop(), () => getServer().restart()],
  ]

  it('keeps counting in Redis while responses are slow', async () => {
    await untilStoreIs('ok', '0')
    proxy.delay(11)
    await untilRedisCounts(newAddress())
    await untilStoreIs('ok', '0')
    await proxy.pass()
  })

  it('serves every request while connections are reset, then counts in Redis again', async () => {
    const address = newAddress()
    for (const fail of [() => proxy.reset(), () => proxy.refuse(), () => proxy.reset()]) {
      await fail()
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(address)))
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    }
    await proxy.pass()
    await untilRedisCounts(address)
  })

  it.each(faults.filter(([fault]) => fault.startsWith('the server')))(
    '%s: /ready says degraded, although no request uses Redis',
    async (_fault, fail, heal) => {
      const store = async () => ready.parse((await service.app.inject('/ready')).json()).checks.store
      await pollUntil(async () => (await store()) === 'ok', 'a healthy store')
      const evaluate = vi.spyOn(Redis.prototype, 'evalsha')
      try {
        await fail()
        await pollUntil(async () => (await store()) === 'degraded', 'the fault to show')
        expect(evaluate).not.toHaveBeenCalled()
      } finally {
        await heal()
      }
      await pollUntil(async () => (await store()) === 'ok', 'the recovery')
    },
  )

  it.each(faults)(
    '%s: continues without waiting for Redis, counts locally, reports it, and recovers',
    async (_fault, fail, heal) => {
      await untilStoreIs('ok', '0')
      const address = await findCounted()

      // The fault lasts until all answers are here.
      try {
        await fail()
        expect(await remainingOf(address)).toBe(999)
        const evaluate = vi.spyOn(Redis.prototype, 'evalsha')
        await untilCountsDownFrom(999, 30)
        expect(evaluate).not.toHaveBeenCalled()
        await untilStoreIs('degraded', '1')
        // The route, if registered, must be closed.
        const { statusCode } = await service.app.inject({ method: 'POST', url: '/register' })
        expect([404, 503]).toContain(statusCode)
      } finally {
        await heal()
      }
      await untilStoreIs('ok', '0')
    },
  )

  it('gives each of two instances half of every limit', async () => {
    await untilStoreIs('ok', '0')
    const second = await startService()
    try {
      await proxy.refuse()
      await untilCountsDownFrom(499, 2, second)
      // The first instance detects the second at its next heartbeat.
      await pollUntil(async () => (await remainingOf(newAddress())) === 499, 'the heartbeat')
    } finally {
      await second.close()
    }
  })
})

/** What Redis has counted of an address. */
const countInRedis = async (address: string): Promise<number> => {
  const redis = new Redis(getServer().url)
  try {
    const counts = await Promise.all(
      (await redis.keys(`quittance:limits:*${address}`)).map(async (key) =>
        Number(await redis.hget(key, 'used')),
      ),
    )
    return Math.max(0, ...counts)
  } finally {
    redis.disconnect()
  }
}

const countedShape = z.object({ allowed: z.number(), refused: z.number() })
const counted = z.tuple([z.object({ counts: z.array(countedShape) })]).rest(z.unknown())
type Counted = z.infer<typeof countedShape>

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
  const child = spawnChild([process.execPath, ...flags, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}
