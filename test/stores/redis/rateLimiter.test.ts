import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../../src/platform/clock.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import type { RateLimiter } from '../../../src/ports/rateLimiter.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import {
  type Circuit,
  createCircuit,
  createRedisOutage,
  openRedis,
  type RedisOutage,
} from '../../../src/stores/redis/client.js'
import { createRedisRateLimiter } from '../../../src/stores/redis/rateLimiter.js'
import { bucket, describeRateLimiter } from '../../contracts/rateLimiterContract.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { findProgram } from '../../support/program.js'
import { shortenTimeout, shortTimeoutMs, startTestRedis, type TestRedis } from '../../support/redis.js'
import { spawnChild } from '../../support/spawnChild.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

const startedServer = await startTestRedis()
afterAll(() => startedServer?.stop())

const getServer = (): TestRedis => {
  if (startedServer === null) throw new Error('This test needs a redis-server')
  return startedServer
}

describe.skipIf(startedServer === null)('on Redis,', () => {
  describeRateLimiter('the limiter', {
    open: async () => {
      const { redis, limiter } = openWithLongTimeouts()
      return {
        limiter,
        now: () => timeOf(redis),
        reach: async (moment) => {
          await pollUntil(async () => (await timeOf(redis)) >= moment, `${moment.toISOString()}`)
        },
        close: async () => {
          await limiter.close()
          redis.disconnect()
        },
      }
    },
    propertyRuns: 60,
  })

  it('four processes that take 4,000 times from a bucket of 1,000 are allowed exactly 1,000', async () => {
    const keyPrefix = `test:${randomUUID()}:`
    const children = await Promise.all(Array.from({ length: 4 }, startChild))
    const answers = await Promise.all(
      children.map(async (child) => {
        const answer = once(child, 'message')
        child.send({ url: getServer().url, keyPrefix, limit: 1_000, takes: 1_000 })
        return z.tuple([z.object({ allowed: z.number() })]).parse((await answer).slice(0, 1))[0].allowed
      }),
    )
    expect(answers.reduce((sum, allowed) => sum + allowed, 0)).toBe(1_000)

    const { redis, limiter } = openWithLongTimeouts(keyPrefix)
    const hourly = bucket({ key: 'everybody', limit: 2_000, windowMs: 3_600_000, cost: 0 })
    expect((await limiter.take([hourly])).windows[0]?.remaining).toBe(1_000)
    redis.disconnect()
  })

  it('two limiters with different prefixes are independent', async () => {
    const [one, other] = [openWithLongTimeouts(), openWithLongTimeouts()]
    for (const { limiter, redis } of [one, other]) {
      expect((await limiter.take([bucket({ limit: 1 })])).isAllowed).toBe(true)
      redis.disconnect()
    }
  })

  it('every key has the prefix and expires with its window', async () => {
    const keyPrefix = `test:${randomUUID()}:`
    const { redis, limiter } = openWithLongTimeouts(keyPrefix)
    await limiter.take([
      bucket({ key: 'short', windowMs: 100 }),
      bucket({ key: 'long', windowMs: 3_600_000 }),
    ])
    const longKey = `${keyPrefix}3600000:long`
    await pollUntil(async () => (await redis.keys(`${keyPrefix}*`)).length === 1, 'the expiry')
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([longKey])
    const leftMs = await redis.pttl(longKey)
    expect(leftMs).toBeGreaterThan(0)
    expect(leftMs).toBeLessThanOrEqual(3_600_000)
    redis.disconnect()
  })

  it('a bucket without a TTL still ends with its window', async () => {
    const keyPrefix = `test:${randomUUID()}:`
    const { redis, limiter } = openWithLongTimeouts(keyPrefix)
    const question = [bucket({ limit: 1, windowMs: 3_600_000 })]
    const key = `${keyPrefix}3600000:caller`
    await limiter.take(question)
    await redis.persist(key)
    expect((await limiter.take(question)).isAllowed).toBe(false)
    await redis.hset(key, 'resetsAt', (await timeOf(redis)).getTime())
    expect((await limiter.take(question)).isAllowed).toBe(true)
    expect(await redis.pttl(key)).toBeGreaterThan(0)
    redis.disconnect()
  })

  it('a bucket that ends later than a window from now, because the clock was set back, starts again', async () => {
    const keyPrefix = `test:${randomUUID()}:`
    const { redis, limiter } = openWithLongTimeouts(keyPrefix)
    await limiter.take([bucket({ limit: 1, windowMs: 60_000 })])
    const future = (await timeOf(redis)).getTime() + 3_600_000
    await redis.hset(`${keyPrefix}60000:caller`, 'resetsAt', future)
    const answer = await limiter.take([bucket({ limit: 1, windowMs: 60_000 })])
    expect(answer.isAllowed).toBe(true)
    expect(answer.windows[0]?.resetsAt.getTime()).toBeLessThan(future)
    redis.disconnect()
  })
})

describe.skipIf(startedServer?.isOwn !== true)('when Redis loses data,', () => {
  it('a flushed script cache is refilled without fallback', async () => {
    const { redis, limiter } = openWithLongTimeouts()
    await limiter.take([bucket({ limit: 2 })])
    await redis.script('FLUSH')
    const answers = await Promise.all([1, 2, 3].map(() => limiter.take([bucket({ limit: 2 })])))
    expect(answers.map(({ isAllowed }) => isAllowed)).toEqual([true, false, false])
    expect(limiter.isDegraded()).toBe(false)
    redis.disconnect()
  })

  it('flushed buckets start again', async () => {
    const { redis, limiter } = openWithLongTimeouts()
    await limiter.take([bucket({ limit: 1 })])
    await redis.flushall()
    expect(await limiter.take([bucket({ limit: 1 })])).toMatchObject({
      isAllowed: true,
      windows: [{ remaining: 0 }],
    })
    expect(limiter.isDegraded()).toBe(false)
    redis.disconnect()
  })
})

describe.skipIf(startedServer?.isOwn !== true)('when Redis fails,', () => {
  let stage: TestSetup
  beforeEach(async () => {
    stage = await openTestSetup()
  })
  afterEach(() => stage.close())

  interface Fault {
    readonly fault: string
    readonly break: () => void | Promise<void>
    /** Null: an instantaneous fault. */
    readonly heal: (() => void | Promise<void>) | null
    /** Remaining of a limit of 10 in Redis, after one draw before the fault. */
    readonly remaining: number
  }
  const faults: readonly Fault[] = [
    {
      fault: 'the network hangs',
      break: () => {
        shortenTimeout(stage.redis)
        stage.proxy.hang()
      },
      heal: () => stage.proxy.pass(),
      remaining: 8,
    },
    {
      fault: 'connections are refused',
      break: () => stage.proxy.refuse(),
      heal: () => stage.proxy.pass(),
      remaining: 9,
    },
    {
      fault: 'the connection is reset',
      // Not awaited: the connection must not be back before the request.
      break: () => void stage.proxy.reset(),
      heal: null,
      remaining: 9,
    },
    {
      fault: 'responses are too late',
      break: () => {
        shortenTimeout(stage.redis)
        stage.proxy.delay(1.5 * shortTimeoutMs)
      },
      heal: () => stage.proxy.pass(),
      remaining: 8,
    },
    {
      fault: 'the server hangs',
      break: () => {
        shortenTimeout(stage.redis)
        return getServer().hang()
      },
      heal: () => getServer().resume(),
      remaining: 8,
    },
    {
      fault: 'the server is down',
      break: () => getServer().stop(),
      heal: () => getServer().restart(),
      remaining: 10,
    },
  ]

  it.each(faults)(
    '$fault: limiting continues in memory and returns to Redis; each transition is logged once',
    async (fault) => {
      const { limiter, messages } = stage
      const question = [bucket({ limit: 10 })]
      await limiter.take(question)
      expect(limiter.isDegraded()).toBe(false)

      await fault.break()
      expect(await limiter.take(question)).toMatchObject({ isAllowed: true, windows: [{ remaining: 9 }] })

      if (fault.heal !== null) {
        expect(limiter.isDegraded()).toBe(true)
        const draws = stage.countDraws()
        const answers = []
        for (let request = 0; request < 20; request += 1) answers.push(await limiter.take(question))
        // None of them waited for Redis.
        expect(stage.countDraws()).toBe(draws)
        expect(answers.filter(({ isAllowed }) => isAllowed)).toHaveLength(9)
      }
      expect(messages()).toContain('redis.degraded')

      await fault.heal?.()
      stage.redis.options.commandTimeout = waitLimitMs
      await pollUntil(() => !limiter.isDegraded(), 'the recovery')
      const back = await limiter.take([bucket({ limit: 10, cost: 0 })])
      // Commands that hung are applied when they arrive; draws in memory stay there.
      expect(back.windows[0]?.remaining).toBe(fault.remaining)
      const transitions = messages().filter((message) => /^redis\.(degraded|recovered)$/.test(message))
      expect(transitions).toEqual(['redis.degraded', 'redis.recovered'])
    },
  )

  it('what was taken in memory is given back there', async () => {
    stage.proxy.refuse()
    const question = [bucket({ limit: 1 })]
    const taken = await stage.limiter.take(question)
    expect(stage.limiter.isDegraded()).toBe(true)
    expect((await stage.limiter.take(question)).isAllowed).toBe(false)
    await stage.limiter.refund(question, taken)
    expect((await stage.limiter.take(question)).isAllowed).toBe(true)
  })

  it('concurrent requests wait for Redis together, not one after another', async () => {
    shortenTimeout(stage.redis)
    stage.proxy.hang()
    const draws = stage.countDraws()
    const answers = Array.from({ length: 30 }, () => stage.limiter.take([bucket({ limit: 10 })]))
    expect(stage.countDraws() - draws).toBe(30)
    const value = await Promise.all(answers)
    expect(stage.countDraws() - draws).toBe(30)
    expect(value.filter(({ isAllowed }) => isAllowed)).toHaveLength(10)
    expect(stage.messages().filter((message) => message === 'redis.degraded')).toHaveLength(1)
  })

  it('a draw whose response was lost is never resent', async () => {
    const { redis: observer, limiter: direct } = openWithLongTimeouts(stage.keyPrefix)
    const countDrawn = async (): Promise<number> => {
      const answer = await direct.take([bucket({ limit: 10, cost: 0 })])
      return 10 - (answer.windows[0]?.remaining ?? 10)
    }
    // The draw arrives after the timeout; its response is held back as long again.
    shortenTimeout(stage.redis)
    stage.proxy.delay(1.5 * shortTimeoutMs)
    expect((await stage.limiter.take([bucket({ limit: 10 })])).isAllowed).toBe(true)
    await pollUntil(async () => (await countDrawn()) === 1, 'the draw')
    await stage.proxy.reset()
    await pollUntil(() => !stage.limiter.isDegraded(), 'the recovery')
    expect(await countDrawn()).toBe(1)
    observer.disconnect()
  })

  it('a request in progress when the connection breaks does not wait for reconnection', async () => {
    stage.proxy.hang()
    const answer = stage.limiter.take([bucket({ limit: 10 })])
    await stage.proxy.reset()
    expect((await answer).isAllowed).toBe(true)
    expect(stage.lines().join()).toContain('redis.degraded')
    expect(stage.lines().join()).not.toContain('timed out')
  })

  it('slow responses within the deadline are used', async () => {
    stage.proxy.delay(15)
    for (let request = 0; request < 3; request += 1) await stage.limiter.take([bucket({})])
    expect(stage.limiter.isDegraded()).toBe(false)
  })

  it('a Redis that responds to PING but rejects writes does not count as recovered', async () => {
    const { redis: admin } = openWithLongTimeouts()
    await admin.config('SET', 'maxmemory', '1')
    try {
      await stage.limiter.take([bucket({})])
      // The third sleep follows two probes.
      await pollUntil(() => stage.clock.sleeps.length >= 3, 'two probes')
      expect(await stage.redis.ping()).toBe('PONG')
      expect(stage.limiter.isDegraded()).toBe(true)
    } finally {
      await admin.config('SET', 'maxmemory', '0')
      admin.disconnect()
    }
    await pollUntil(() => !stage.limiter.isDegraded(), 'the recovery')
    expect(stage.messages()).toEqual(['redis.degraded', 'redis.recovered'])
  })

  it('a Redis that fails repeatedly is probed less often, until it is stable', async () => {
    const failOnce = async (): Promise<void> => {
      // The connection must not be back before the request.
      const reset = stage.proxy.reset()
      await stage.limiter.take([bucket({})])
      await reset
      expect(stage.limiter.isDegraded()).toBe(true)
      await pollUntil(() => stage.redis.status === 'ready', 'the connection')
      stage.clock.endSleep()
      await pollUntil(() => !stage.limiter.isDegraded(), 'the recovery')
    }
    stage.clock.isManual = true
    for (let outage = 0; outage < 6; outage += 1) await failOnce()
    expect(stage.clock.sleeps).toEqual([100, 200, 400, 800, 1_000, 1_000])
    stage.clock.nowMs += 10_001
    await failOnce()
    expect(stage.clock.sleeps.at(-1)).toBe(100)
  })

  it.each(['before a probe', 'during a probe'])(
    'a circuit closed %s does not log anymore',
    async (moment) => {
      stage.clock.isManual = true
      shortenTimeout(stage.redis)
      stage.proxy.hang()
      await stage.limiter.take([bucket({})])
      if (moment === 'during a probe') stage.clock.endSleep()
      stage.circuit.close()
      stage.redis.options.commandTimeout = waitLimitMs
      // An unfinished sleep would keep the process alive.
      expect(stage.clock.isSleeping).toBe(false)
      await stage.proxy.pass()
      // Redis responds in order: the second PING follows the effects of the probe.
      for (let ping = 0; ping < 2; ping += 1) await stage.redis.ping()
      expect(stage.messages()).toEqual(['redis.degraded'])
      expect((await stage.limiter.take([bucket({})])).isAllowed).toBe(true)
    },
  )
})

describe.skipIf(startedServer?.isOwn !== true)('openRedis', () => {
  it('continues without Redis after the deadline and connects later', async () => {
    await getServer().stop()
    const log = createLog()
    // Redis is not there until after the first request.
    const outage = createRedisOutage(log.logger)
    const redis = await openRedis(getServer().url, { logger: log.logger, outage, readyDeadlineMs: 200 })
    await pollUntil(() => log.messages().includes('redis.degraded'), 'the refused connection')
    const parts = createParts(redis, log.logger, { outage })
    const limiter = createRedisRateLimiter(parts)
    expect((await limiter.take([bucket({})])).isAllowed).toBe(true)
    expect(limiter.isDegraded()).toBe(true)

    await getServer().restart()
    await pollUntil(() => !limiter.isDegraded(), 'the recovery')
    expect(log.messages()).toEqual(['redis.degraded', 'redis.recovered'])
    parts.circuit.close()
    await limiter.close()
    redis.disconnect()
  })

  it('logs no password if authentication fails', async () => {
    const { redis: admin } = openWithLongTimeouts()
    await admin.config('SET', 'requirepass', 'right')
    const url = getServer().url.replace('//', '//:hunter2@')
    const readProblem = async (): Promise<string> => {
      const log = createLog()
      const redis = await openRedis(url, { logger: log.logger, readyDeadlineMs: 200 })
      await pollUntil(() => log.lines().length > 0, 'the refusal')
      redis.disconnect()
      const problem = log.lines().join()
      expect(problem).not.toContain('hunter2')
      return problem
    }
    try {
      let problem = await readProblem()
      // A busy machine may not connect in half a second, which is the only problem then.
      while (problem.includes('it does not answer')) problem = await readProblem()
      expect(problem).toContain('WRONGPASS')
    } finally {
      await admin.config('SET', 'requirepass', '')
      admin.disconnect()
    }
  })

  it.each(['localhost:6379', '/var/run/redis.sock', 'https://user:hunter2@redis.example', ''])(
    'refuses the URL %j without repeating it',
    async (url) => {
      const opening = openRedis(url, { logger: createLog().logger })
      await expect(opening).rejects.toThrow(/redis:\/\/ or rediss:\/\//)
      await expect(opening).rejects.not.toThrow(/hunter2/)
    },
  )
})

interface TestSetup {
  readonly proxy: TcpProxy
  readonly redis: Redis
  readonly limiter: RateLimiter
  readonly circuit: Circuit
  readonly keyPrefix: string
  readonly clock: TestClock
  /** Commands that draw from a bucket in Redis, sent so far. */
  countDraws(): number
  messages(): readonly string[]
  lines(): readonly string[]
  close(): Promise<void>
}

const openTestSetup = async (): Promise<TestSetup> => {
  const proxy = await startTcpProxy(getServer().port)
  const log = createLog()
  const outage = createRedisOutage(log.logger)
  const redis = await openRedis(`redis://127.0.0.1:${proxy.port}`, {
    logger: log.logger,
    outage,
    readyDeadlineMs: waitLimitMs,
    commandTimeoutMs: waitLimitMs,
    // No fault of these tests is long enough for a new connection.
    socketTimeoutMs: waitLimitMs,
  })
  // The first connection has half a second, which a busy machine may need.
  log.forget()
  const draws = [vi.spyOn(redis, 'evalsha'), vi.spyOn(redis, 'eval')]
  const keyPrefix = `test:${randomUUID()}:`
  const clock = new TestClock()
  const parts = createParts(redis, log.logger, { clock, outage })
  const limiter = createRedisRateLimiter({ ...parts, keyPrefix })
  return {
    proxy,
    redis,
    limiter,
    keyPrefix,
    clock,
    countDraws: () => draws.reduce((sum, { mock }) => sum + mock.calls.length, 0),
    messages: log.messages,
    lines: log.lines,
    circuit: parts.circuit,
    async close() {
      parts.circuit.close()
      await limiter.close()
      redis.disconnect()
      await proxy.close()
    },
  }
}

/** Its time stands still unless a test moves it; its sleeps are real, unless a test ends them. */
class TestClock implements Clock {
  readonly sleeps: number[] = []
  isSleeping = false
  nowMs = Date.UTC(2026, 0, 1)
  isManual = false
  endSleep = (): void => undefined

  now(): Date {
    return new Date(this.nowMs)
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    this.sleeps.push(milliseconds)
    if (!this.isManual) return systemClock.sleep(milliseconds, signal)
    return new Promise((resolve) => {
      const end = (isWhole: boolean): void => {
        this.isSleeping = false
        resolve(isWhole)
      }
      this.isSleeping = true
      this.endSleep = () => end(true)
      signal?.addEventListener('abort', () => end(false))
    })
  }
}

interface SharedParts {
  readonly clock?: Clock
  readonly outage?: RedisOutage
}

const createParts = (redis: Redis, logger: Logger, { clock = systemClock, ...shared }: SharedParts = {}) => ({
  redis,
  circuit: createCircuit({ redis, clock, logger, ...shared }),
  fallback: createMemoryRateLimiter({ clock: systemClock }),
})

/** A limiter with long timeouts and a fallback that fails the test. */
const openWithLongTimeouts = (
  keyPrefix = `test:${randomUUID()}:`,
): { redis: Redis; limiter: RateLimiter } => {
  const redis = new Redis(getServer().url)
  const fallback: RateLimiter = {
    take: () => Promise.reject(new Error('Redis did not answer')),
    refund: async () => undefined,
    isDegraded: () => false,
    close: async () => undefined,
  }
  const parts = { ...createParts(redis, createLog().logger), fallback }
  return { redis, limiter: createRedisRateLimiter({ ...parts, keyPrefix }) }
}

const createLog = () => {
  const entries: { readonly message: string; readonly line: string }[] = []
  const write = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    entries.push({ message, line: `${message} ${JSON.stringify(fields)}` })
  }
  const logger: Logger = { debug: write, info: write, warn: write, error: write }
  return {
    logger,
    messages: () => entries.map(({ message }) => message),
    lines: () => entries.map(({ line }) => line),
    forget: () => void entries.splice(0),
  }
}

const startChild = async (): Promise<ChildProcess> => {
  const { flags, file } = findProgram(new URL('./takeMany.ts', import.meta.url))
  const child = spawnChild([process.execPath, ...flags, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

const timeOf = async (redis: Redis): Promise<Date> => {
  const [seconds = 0, microseconds = 0] = await redis.time()
  return new Date(Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000))
}
