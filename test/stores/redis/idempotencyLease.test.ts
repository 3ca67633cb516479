import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { IdempotencyStore, IdempotentRequest } from '../../../src/ports/idempotencyStore.js'
import { createCircuit, openRedis } from '../../../src/stores/redis/client.js'
import { createIdempotencyLease } from '../../../src/stores/redis/idempotencyLease.js'
import { describeIdempotencyStore } from '../../contracts/idempotencyStoreContract.js'
import { createManualClock, type ManualClock } from '../../support/manualClock.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { shortenTimeout, startTestRedis, type TestRedis } from '../../support/redis.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

const startedServer = await startTestRedis()
afterAll(() => startedServer?.stop())

const getServer = (): TestRedis => {
  if (startedServer === null) throw new Error('This test needs a redis-server')
  return startedServer
}

const leaseMs = 600_000

const openLease = async (url: string, clock: Clock = systemClock) => {
  const redis = await openRedis(url, {
    logger: silentLogger,
    readyDeadlineMs: waitLimitMs,
    commandTimeoutMs: waitLimitMs,
    socketTimeoutMs: waitLimitMs,
  })
  const commands = vi.spyOn(redis, 'eval')
  const circuit = createCircuit({ redis, clock, logger: silentLogger })
  const keyPrefix = `test:${randomUUID()}:`
  const own = new Redis(getServer().url)
  return {
    circuit,
    shortenTimeout: () => shortenTimeout(redis),
    wrap: (record: IdempotencyStore) =>
      createIdempotencyLease({ redis, circuit, record, keyPrefix, leaseMs }),
    countCommands: () => commands.mock.calls.length,
    /** A second client that is not affected by faults. */
    list: () => own.keys(`${keyPrefix}*`),
    lifeOf: async () => {
      const [key = ''] = await own.keys(`${keyPrefix}*`)
      return await own.pttl(key)
    },
    setLife: async (ms: number) => {
      const [key = ''] = await own.keys(`${keyPrefix}*`)
      await own.pexpire(key, ms)
    },
    forget: async () => {
      const keys = await own.keys(`${keyPrefix}*`)
      if (keys.length > 0) await own.del(...keys)
    },
    close: async () => {
      circuit.close()
      redis.disconnect()
      own.disconnect()
    },
  }
}

describe.skipIf(startedServer === null)('with Redis in front,', () => {
  describeIdempotencyStore('the idempotency store', () => openLease(getServer().url))
})

const request: IdempotentRequest = { caller: 'key-1', key: 'order-1', fingerprint: 'a'.repeat(64) }
const other: IdempotentRequest = { ...request, fingerprint: 'b'.repeat(64) }
const response = { success: true, transaction: '0x1', nested: [1, null, 'ü'] }

/** A durable store that counts calls and can fail. */
const createCountedRecord = () => {
  const counted = { begins: 0, isDown: false }
  const fail = async () => {
    if (counted.isDown) throw new Error('The database does not answer')
  }
  const record: IdempotencyStore = {
    begin: async () => {
      counted.begins += 1
      await fail()
      return { state: counted.begins === 1 ? 'started' : 'running' }
    },
    isMismatch: async () => false,
    answer: fail,
    fail,
    release: fail,
    forget: fail,
    purge: async () => undefined,
  }
  return { counted, record }
}

describe.skipIf(startedServer?.isOwn !== true)('the lease', () => {
  let proxy: TcpProxy
  let lease: Awaited<ReturnType<typeof openLease>>
  let clock: ManualClock
  beforeEach(async () => {
    proxy = await startTcpProxy(getServer().port)
    clock = createManualClock()
    lease = await openLease(`redis://127.0.0.1:${proxy.port}`, clock)
  })
  afterEach(async () => {
    vi.useRealTimers()
    await lease.close()
    await proxy.close()
  })

  it('serves answered, failed and mismatched requests without the durable store', async () => {
    const { record, counted } = createCountedRecord()
    const [ours, theirs] = [lease.wrap(record), lease.wrap(record)]
    await ours.begin(request)
    expect(await theirs.begin(other)).toEqual({ state: 'mismatch' })
    await ours.answer(request, response)
    expect(await theirs.begin(request)).toEqual({ state: 'answered', response })
    expect(await theirs.begin(other)).toEqual({ state: 'mismatch' })
    expect(counted.begins).toBe(1)

    const failing = { ...request, key: 'order-2' }
    counted.begins = 0
    await ours.begin(failing)
    await ours.fail(failing, 'transaction_failed')
    expect(await theirs.begin(failing)).toEqual({ state: 'failed', reason: 'transaction_failed' })
    expect(counted.begins).toBe(1)
  })

  it('asks the durable store whether a request is still running, since Redis can miss its end', async () => {
    const { record, counted } = createCountedRecord()
    const [ours, theirs] = [lease.wrap(record), lease.wrap(record)]
    await ours.begin(request)
    expect(await theirs.begin(request)).toEqual({ state: 'running' })
    expect(counted.begins).toBe(2)

    lease.shortenTimeout()
    await proxy.hang()
    await ours.answer(request, response)
    await proxy.reset()
    await pollUntil(async () => {
      await clock.advance(1_000)
      return !lease.circuit.isOpen()
    }, 'the recovery')
    const answered = { state: 'answered', response } as const
    record.begin = async () => answered
    expect(await lease.list()).toHaveLength(1)
    expect(await theirs.begin(request)).toEqual(answered)
  })

  it('is renewed three times per period while its process is running, and expires afterwards', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { record } = createCountedRecord()
    await lease.wrap(record).begin(request)
    const life = await lease.lifeOf()
    expect(life).toBeGreaterThan(0)
    expect(life).toBeLessThanOrEqual(leaseMs)
    for (let renewal = 0; renewal < 3; renewal += 1) {
      await lease.setLife(leaseMs / 2)
      vi.advanceTimersByTime(leaseMs / 3)
      await pollUntil(async () => (await lease.lifeOf()) > leaseMs / 2, 'the renewal')
    }
    const renewals = lease.countCommands()
    vi.advanceTimersByTime(leaseMs / 3 - 1)
    expect(lease.countCommands()).toBe(renewals)

    await proxy.refuse()
    vi.advanceTimersByTime(1)
    await pollUntil(() => lease.circuit.isOpen(), 'the failed renewal')
    await lease.setLife(1)
    await pollUntil(async () => (await lease.list()).length === 0, 'the end of the lease')
  })

  it('publishes no outcome that could not be stored durably', async () => {
    const { record, counted } = createCountedRecord()
    const store = lease.wrap(record)
    await store.begin(request)
    counted.isDown = true
    await expect(store.answer(request, response)).rejects.toThrow('does not answer')
    expect(await lease.list()).toEqual([])
    await expect(store.begin(request)).rejects.toThrow('does not answer')
    expect(await lease.list()).toEqual([])
  })

  it.each([
    ['hangs', () => proxy.hang()],
    ['refuses', () => proxy.refuse()],
    // Not awaited: the connection must not be back before the request.
    ['resets', () => void proxy.reset()],
  ])(
    'leaves the decision to the durable store while Redis %s, and asks Redis only once',
    async (_, fault) => {
      const { record, counted } = createCountedRecord()
      const store = lease.wrap(record)
      lease.shortenTimeout()
      await fault()
      expect(await store.begin(request)).toEqual({ state: 'started' })
      expect(await store.begin(request)).toEqual({ state: 'running' })
      for (let asked = 0; asked < 20; asked += 1) await store.begin(request)
      await store.answer(request, response)
      expect(counted.begins).toBe(22)
      expect(lease.countCommands()).toBe(1)
      await proxy.pass()
      await pollUntil(async () => {
        await clock.advance(1_000)
        return !lease.circuit.isOpen()
      }, 'the recovery')
    },
  )

  it('that Redis lost cannot be taken over: the durable store decides, and the first run continues', async () => {
    const { record, counted } = createCountedRecord()
    const [ours, theirs] = [lease.wrap(record), lease.wrap(record)]
    await ours.begin(request)
    await lease.forget()
    expect(await theirs.begin(request)).toEqual({ state: 'running' })
    expect(await lease.list()).toEqual([])
    expect(await ours.begin(request)).toEqual({ state: 'running' })
    expect(counted.begins).toBe(3)
    await ours.answer(request, response)
    expect(await theirs.begin(request)).toEqual({ state: 'answered', response })
  })

  it('ignores an invalid entry', async () => {
    const { record } = createCountedRecord()
    const store = lease.wrap(record)
    await store.begin(request)
    const own = new Redis(getServer().url)
    await own.set((await lease.list())[0] ?? '', 'not ours')
    own.disconnect()
    expect(await store.begin(request)).toEqual({ state: 'running' })
  })
})
