import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { maxAuthFailuresPerMinute } from '../../src/http/plugins/authentication.js'
import { Secret } from '../../src/platform/secret.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createManualClock } from '../support/manualClock.js'
import { pollUntil } from '../support/pollUntil.js'
import { keyOwner, knownKey, type TestAppOptions, testApp } from './support/app.js'
import { limitedApp } from './support/limitedApp.js'
import { countConnections, deferred, listen, open as openSocket } from './support/sockets.js'

const minuteMs = 60_000

const wrong = 'a wrong key'

/** Instances that share one limiter, with a count of key lookups each. */
const open = (instances = 1) => {
  const clock = createManualClock()
  const limiter = createMemoryRateLimiter({ clock })
  const lookedUp: string[] = []
  const apps = Array.from({ length: instances }, () =>
    limitedApp({ limiter, clock, onLookUp: (key) => lookedUp.push(key) }),
  )
  let turn = 0
  const present = async (key: string, { address = '203.0.113.9', url = '/supported' } = {}) => {
    turn += 1
    const app = apps[turn % apps.length]
    if (app === undefined) throw new Error('There is no instance')
    return await app.inject({ url, remoteAddress: address, headers: { 'x-api-key': key } })
  }
  const presentMany = async (count: number, options: Parameters<typeof present>[1] = {}) => {
    const statuses: number[] = []
    for (let index = 0; index < count; index += 1) {
      statuses.push((await present(wrong, options)).statusCode)
    }
    return statuses
  }
  return { clock, present, presentMany, lookedUp }
}

describe('unknown keys', () => {
  it('are looked up at most 30 times per minute, address and key', async () => {
    const { clock, presentMany, lookedUp, present } = open()
    const statuses = await presentMany(100)
    expect(new Set(statuses.slice(0, maxAuthFailuresPerMinute))).toEqual(new Set([401]))
    expect(new Set(statuses.slice(maxAuthFailuresPerMinute))).toEqual(new Set([429]))
    expect(lookedUp).toHaveLength(maxAuthFailuresPerMinute)

    const barred = await present(wrong)
    expect(barred.json()).toMatchObject({ code: 'RATE_LIMITED', operationalCode: 'SVC-2005', retryAfter: 60 })
    await clock.advance(minuteMs)
    expect((await present(wrong)).statusCode).toBe(401)
  })

  it('do not block probes', async () => {
    const { presentMany, lookedUp } = open()
    await presentMany(100)
    const before = lookedUp.length
    expect(new Set(await presentMany(100, { url: '/health' }))).toEqual(new Set([200]))
    expect(lookedUp).toHaveLength(before)
  })

  it('are counted across instances, each of which blocks after one more request', async () => {
    const { presentMany, lookedUp } = open(4)
    await presentMany(400)
    expect(lookedUp.length).toBeLessThanOrEqual(maxAuthFailuresPerMinute + 4)
  })

  it('are blocked for their address only', async () => {
    const { presentMany, present } = open()
    await presentMany(100, { address: '2001:db8::1' })
    expect((await present(wrong, { address: '2001:db8::2' })).statusCode).toBe(429)
    expect((await present(wrong, { address: '2001:db8:1::1' })).statusCode).toBe(401)
    expect((await open().presentMany(1, { address: '2001:db8::1' }))[0]).toBe(401)
  })

  it('never block a valid key behind the same proxy, nor another wrong one (A54)', async () => {
    const { clock, presentMany, present } = open()
    expect((await present('free')).statusCode).toBe(200)
    for (let index = 0; index < 100; index += 1) {
      expect((await present(`guess ${index}`)).statusCode).toBe(401)
    }
    await presentMany(100)
    expect((await present('free')).statusCode).toBe(200)
    expect((await present('builder')).statusCode).toBe(200)
    expect((await present('a key with a typing error')).statusCode).toBe(401)
    await clock.advance(3 * minuteMs)
    await presentMany(100)
    expect((await present('scale')).statusCode).toBe(200)
  })

  it('do not count against the anonymous limits of their address', async () => {
    const { presentMany, present } = open()
    await presentMany(20)
    await presentMany(1)
    const { headers } = await present('free')
    expect(headers['x-ratelimit-remaining']).toBe('999')
  })
})

it('a wrong key is looked up 30 times, whatever stands beside it', async () => {
  const clock = createManualClock()
  let lookUps = 0
  const app = testApp({
    limits: { limiter: createMemoryRateLimiter({ clock }), clock, table: [] },
    dashboard: {
      authenticate: async () => {
        lookUps += 1
        throw new AppError('UNAUTHORIZED', 'The API key is not valid')
      },
    },
  })
  for (let turn = 0; turn < 2 * maxAuthFailuresPerMinute; turn += 1) {
    const headers = { 'x-api-key': knownKey, authorization: `Basic ${turn}` }
    await app.inject({ url: '/supported', headers })
  }
  expect(lookUps).toBe(maxAuthFailuresPerMinute)
})

describe('a valid key without the scope of a route', () => {
  it('is not blocked for other routes', async () => {
    const clock = createManualClock()
    const app = testApp({
      limits: { limiter: createMemoryRateLimiter({ clock }), clock, table: [] },
      dashboard: {
        authenticate: async ({ scope = null }) => {
          if (scope === 'read') throw new AppError('FORBIDDEN', 'The API key lacks the scope read')
          return keyOwner
        },
      },
    })
    const ask = async (url: string) =>
      (await app.inject({ url, headers: { 'x-api-key': knownKey } })).statusCode
    for (let request = 0; request < 50; request += 1) expect(await ask('/dashboard/info')).toBe(403)
    expect(await ask('/supported')).toBe(200)
  })
})

describe('a valid key', () => {
  const start = (parts: TestAppOptions = {}) => {
    const clock = createManualClock()
    return testApp({ ...parts, limits: { limiter: createMemoryRateLimiter({ clock }), clock, table: [] } })
  }
  const headers = { authorization: `Bearer ${knownKey}` }

  it.each([
    [
      'a garbage sign-in',
      {
        method: 'POST',
        url: '/v1/siwx/verify',
        payload: { header: 'garbage', uri: 'https://shop.example/' },
      },
    ],
    ['a query for operators', { method: 'GET', url: '/v1/settlements?status=pending' }],
    [
      'the change of a listing of another',
      { method: 'DELETE', url: `/discovery/resources/7d0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7` },
    ],
  ] as const)('that forwards %s again and again stays valid', async (_name, request) => {
    const app = start({
      operatorToken: new Secret('o'.repeat(32)),
      discovery: {
        changeListing: async () => {
          throw new AppError('UNAUTHORIZED', 'Send the API key of the owning account')
        },
      },
    })
    for (let count = 0; count < 2 * maxAuthFailuresPerMinute; count += 1) {
      expect((await app.inject({ ...request, headers })).statusCode).toBe(401)
    }
    expect((await app.inject({ url: '/supported', headers })).statusCode).toBe(200)
  })

  it('stays valid when its clients disconnect before it was looked up', async () => {
    const lookup = deferred<void>()
    let begun = 0
    const app = start({
      dashboard: {
        authenticate: async () => {
          begun += 1
          await lookup.promise
          return keyOwner
        },
      },
    })
    const port = await listen(app)
    for (let count = 1; count <= maxAuthFailuresPerMinute + 1; count += 1) {
      const socket = await openSocket(port)
      socket.write(`GET /supported HTTP/1.1\r\nHost: a\r\nX-API-Key: ${knownKey}\r\n\r\n`)
      await pollUntil(() => begun === count, 'the lookup')
      socket.destroy()
    }
    await pollUntil(() => countConnections(app).then((count) => count === 0), 'the end of the connections')
    lookup.resolve()
    const response = await fetch(`http://127.0.0.1:${port}/supported`, { headers: { 'x-api-key': knownKey } })
    expect(response.status).toBe(200)
    await app.close()
  })

  it('that is refused is counted although its client has disconnected', async () => {
    const lookup = deferred<void>()
    let begun = 0
    const app = start({
      dashboard: {
        authenticate: async () => {
          begun += 1
          await lookup.promise
          throw new AppError('UNAUTHORIZED', 'The API key is not valid')
        },
      },
    })
    const port = await listen(app)
    for (let count = 1; count <= maxAuthFailuresPerMinute; count += 1) {
      const socket = await openSocket(port)
      socket.write(`GET /supported HTTP/1.1\r\nHost: a\r\nX-API-Key: ${knownKey}\r\n\r\n`)
      await pollUntil(() => begun === count, 'the lookup')
      socket.destroy()
    }
    await pollUntil(() => countConnections(app).then((count) => count === 0), 'the end of the connections')
    lookup.resolve()
    const ask = async () =>
      (await fetch(`http://127.0.0.1:${port}/supported`, { headers: { 'x-api-key': knownKey } })).status
    expect(await ask()).toBe(429)
    await app.close()
  })
})

describe('callers with a valid key', () => {
  it('are never blocked', async () => {
    const { present } = open()
    for (let request = 0; request < 100; request += 1) {
      expect((await present('scale')).statusCode).toBe(200)
    }
  })
})
