import type { FastifyInstance } from 'fastify'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { createAcceptedKeys, maxAcceptedKeys } from '../../src/http/auth/presentedKey.js'
import { maxRefusals, refusalsPerSecond } from '../../src/http/server/refusals.js'
import { type RequestLimit, tierRatedEndpoints } from '../../src/protocol/requestLimits.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createManualClock } from '../support/manualClock.js'
import { createMemoryLogger } from '../support/memoryLogger.js'
import { keyOwner, knownKey, type TestAppOptions, testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { listen, open, readAll } from './support/sockets.js'

let app: FastifyInstance | null = null

afterEach(async () => {
  await app?.close()
  app = null
})

const limitPerMinute = 5
// Until the caller is barred, and some more. Each of these costs a connection, because its refusal closes it.
const untilBarred = limitPerMinute + maxRefusals + 5

const start = async (parts: TestAppOptions = {}, ownLimits: readonly string[] = []) => {
  const clock = createManualClock()
  const logger = createMemoryLogger()
  app = testApp({
    logger,
    limits: {
      limiter: createMemoryRateLimiter({ clock }),
      clock,
      table: [
        { endpoint: '*', limit: limitPerMinute, windowMs: 60_000, per: 'address', appliesTo: 'anonymous' },
        {
          endpoint: 'GET /tiers',
          limit: limitPerMinute,
          windowMs: 60_000,
          per: 'customer',
          appliesTo: 'keyed',
        },
        ...ownLimits.map(
          (endpoint): RequestLimit => ({
            endpoint,
            limit: limitPerMinute,
            windowMs: 60_000,
            per: 'customer',
            appliesTo: 'keyed',
          }),
        ),
      ],
    },
    ...parts,
  })
  let heard = 0
  app.addHook('onResponse', async () => {
    heard += 1
  })
  const port = await listen(app)
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const flood = async (
    count: number,
    path = '/supported',
    headers: Readonly<Record<string, string>> = {},
  ) => {
    for (let sent = 1; sent < count; sent += 1) await send(port, 'GET', path, headers)
    return await ask(path, headers)
  }
  return { clock, logger, ask, flood, countHeard: () => heard, port }
}

/** For the many requests of a test, of which `fetch` would take most of the processor time. */
const send = async (
  port: number,
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> => {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { method, headers })
  await body.dump()
  return statusCode
}

const key = { 'x-api-key': knownKey }
const otherKey = `qtn_sk_${'b'.repeat(64)}`
const merchant = { ...keyOwner, tier: 'enterprise' } as const
const bothKeys: TestAppOptions = { dashboard: { authenticate: async () => merchant } }
const keyOf = (name: number): string => `qtn_sk_${String(name).padStart(64, '0')}`

describe('a key that is refused on one endpoint', () => {
  const tierRated = [...tierRatedEndpoints.keys()]
  const post = (port: number, path: string) => send(port, 'POST', path, key)

  it.each([
    ['/verify', '/settle'],
    ['/verify?x=1', '/v1/stream/close'],
    ['/v1/intent/one/execute', '/v1/stream/open'],
    ['/v1/stream/update', '/v1/stream/close?x=1'],
  ])('%s is heard on %s', async (flooded, other) => {
    const { port, countHeard, ask } = await start(bothKeys, tierRated)
    for (let count = 0; count < untilBarred; count += 1) await post(port, flooded)
    expect(await post(port, flooded)).toBe(429)
    expect(countHeard()).toBe(limitPerMinute + maxRefusals)
    expect(await post(port, other)).not.toBe(429)
    expect((await ask('/supported', key)).status).toBe(200)
    expect(countHeard()).toBe(limitPerMinute + maxRefusals + 2)
  })

  it('is refused for all spellings and parameters of this endpoint', async () => {
    const { port, countHeard } = await start(bothKeys, tierRated)
    for (let count = 0; count < untilBarred; count += 1) {
      await post(port, `/v1/intent/${count}/execute?count=${count}`)
    }
    expect(countHeard()).toBe(limitPerMinute + maxRefusals)
  })
})

describe('one key', () => {
  const bearer = `Bearer ${knownKey}`
  const disguises: readonly [string, (turn: number) => Readonly<Record<string, string>>][] = [
    ['beside a credential of another service', (turn) => ({ ...key, authorization: `Basic ${turn}` })],
    ['beside a foreign bearer', (turn) => ({ ...key, authorization: `Bearer ${turn}` })],
    ['beside a foreign X-API-Key', (turn) => ({ authorization: bearer, 'x-api-key': `${turn}` })],
    ['spelled in many ways', (turn) => ({ authorization: `bearer${' '.repeat(turn + 1)}${knownKey}` })],
  ]

  it.each(disguises)('%s stays one caller', async (_name, disguise) => {
    const { port, countHeard } = await start(bothKeys)
    for (let turn = 0; turn < untilBarred; turn += 1) await send(port, 'GET', '/tiers', disguise(turn))
    expect(countHeard()).toBe(limitPerMinute + maxRefusals)
  })

  it('beside another key is refused without harm to either', async () => {
    const { ask, flood } = await start(bothKeys)
    expect((await ask('/supported', key)).status).toBe(200)
    const last = await flood(maxRefusals, '/supported', { ...key, authorization: `Bearer ${otherKey}` })
    expect(last.status).not.toBe(200)
    expect((await ask('/supported', key)).status).toBe(200)
    expect((await ask('/supported', { authorization: bearer })).status).toBe(200)
  })
})

it('keys in use stay known, however many others are accepted', () => {
  const acceptedKeys = createAcceptedKeys()
  const inUse = { 'x-api-key': 'qtn_sk_in_use' }
  for (let other = 0; other < 2 * maxAcceptedKeys; other += 1) {
    if (other % 1_000 === 0) acceptedKeys.add({ ...inUse }, keyOwner)
    acceptedKeys.add({ 'x-api-key': `qtn_sk_${other}` }, keyOwner)
  }
  expect(acceptedKeys.find(inUse)).not.toBeNull()
  expect(acceptedKeys.find({ 'x-api-key': 'qtn_sk_0' })).toBeNull()
})

describe('a caller that is refused again and again', () => {
  it.each([
    ['over its limit', '/supported', {}, limitPerMinute],
    ['with wrong keys', '/supported', { 'x-api-key': 'qtn_sk_wrong' }, 0],
    ['on unknown paths', '/wp-login.php', {}, 0],
  ])('%s is refused before Fastify, and disconnected', async (_name, path, headers, served) => {
    const { flood, countHeard } = await start()
    const last = await flood(served + maxRefusals + 5, path, headers)
    expect(countHeard()).toBe(served + maxRefusals)
    expect(last.status).toBe(429)
    expect(last.headers.get('connection')).toBe('close')
    expect(last.headers.get('retry-after')).toBe('1')
    expect(await last.json()).toMatchObject({ code: 'RATE_LIMITED', operationalCode: 'SVC-2005' })
  })

  it('is heard again as its refusals pass', async () => {
    const { clock, ask, flood, countHeard } = await start()
    await flood(limitPerMinute + maxRefusals + 5)
    const before = countHeard()
    await clock.advance(1_000)
    await flood(refusalsPerSecond + 5)
    expect(countHeard() - before).toBe(refusalsPerSecond)
    await clock.advance(60_000)
    expect((await ask('/supported')).status).toBe(200)
  })

  it('never affects probes', async () => {
    const { ask, flood, port } = await start()
    await flood(limitPerMinute + maxRefusals + 5)
    expect((await ask('/health')).status).toBe(200)
    expect((await ask('/metrics')).status).toBe(200)
    expect((await ask('/health?x=1')).status).not.toBe(429)
    const socket = await open(port)
    const answer = readAll(socket)
    socket.write('GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
    // Not a probe: its body would be read.
    const other = await fetch(`http://127.0.0.1:${port}/health`, { method: 'POST' })
    expect(other.status).toBe(429)
  })

  it('does not affect valid keys behind the same NAT, also not one that is used for the first time', async () => {
    const { ask, flood } = await start(bothKeys)
    expect((await ask('/supported', key)).status).toBe(200)
    await flood(untilBarred)
    expect((await ask('/supported')).status).toBe(429)
    expect((await ask('/supported', { 'x-api-key': otherKey })).status).toBe(200)
    for (let count = 0; count < 20; count += 1) expect((await ask('/supported', key)).status).toBe(200)
  })

  it('guessing another key each time has few of them looked up', async () => {
    let lookUps = 0
    const { port, flood } = await start({
      dashboard: {
        authenticate: async () => {
          lookUps += 1
          throw new AppError('UNAUTHORIZED', 'The API key is not valid')
        },
      },
    })
    for (let guess = 0; guess < untilBarred; guess += 1) {
      await send(port, 'GET', '/supported', { 'x-api-key': keyOf(guess) })
    }
    expect((await flood(1, '/supported', { 'x-api-key': otherKey })).status).toBe(429)
    expect(lookUps).toBe(maxRefusals)
  })

  it('with wrong keys does not affect a key behind the same NAT that was accepted before', async () => {
    const { ask, flood } = await start({
      dashboard: {
        authenticate: async ({ apiKey }) => {
          if (apiKey === knownKey) return merchant
          throw new AppError('UNAUTHORIZED', 'The API key is not valid')
        },
      },
    })
    expect((await ask('/supported', key)).status).toBe(200)
    expect((await flood(maxRefusals + 5, '/supported', { 'x-api-key': otherKey })).status).toBe(429)
    for (let count = 0; count < 20; count += 1) expect((await ask('/supported', key)).status).toBe(200)
    expect((await ask('/supported')).status).toBe(200)
  })

  it('does not affect another client behind the same proxy, whose connection stays open', async () => {
    const { ask, flood } = await start({ trustProxy: ['127.0.0.1'] })
    const last = await flood(limitPerMinute + maxRefusals + 5, '/supported', {
      'x-forwarded-for': '203.0.113.9',
    })
    expect(last.status).toBe(429)
    expect(last.headers.get('connection')).not.toBe('close')
    expect((await ask('/supported', { 'x-forwarded-for': '203.0.113.10' })).status).toBe(200)
  })

  it('does not affect another client behind a proxy that names clients with their ports', async () => {
    const { ask, flood } = await start({ trustProxy: ['127.0.0.1'] })
    for (let port = 1; port <= limitPerMinute + maxRefusals; port += 1) {
      await flood(1, '/supported', { 'x-forwarded-for': `203.0.113.9:${port}` })
    }
    expect((await ask('/supported', { 'x-forwarded-for': '203.0.113.9:9' })).status).toBe(429)
    expect((await ask('/supported', { 'x-forwarded-for': '203.0.113.10:9' })).status).toBe(200)
  })

  it('waits for its refusal, on a connection that makes room for others', async () => {
    const { port, flood, ask } = await start({ refusalDelayMs: 3_600_000, maxConnections: 3, ...bothKeys })
    // Its own connections are reused until it is barred.
    await flood(limitPerMinute + maxRefusals)
    const barred = await Promise.all([open(port), open(port), open(port)])
    const answers = barred.map(async (socket) => {
      const answer = readAll(socket)
      socket.write('GET /supported HTTP/1.1\r\nHost: a\r\n\r\n')
      return await answer
    })
    for (let turn = 0; turn < 5; turn += 1) expect((await ask('/supported', key)).status).toBe(200)
    expect(await Promise.race(answers)).toBe('')
    for (const socket of barred) socket.destroy()
    expect(await Promise.all(answers)).toEqual(['', '', ''])
  })

  it('has the refusal sent after the delay', async () => {
    const { flood } = await start({ refusalDelayMs: 50 })
    const last = await flood(limitPerMinute + maxRefusals + 3)
    expect(last.status).toBe(429)
    expect(last.headers.get('connection')).toBe('close')
  })

  it('of probes waits, and costs other requests of its address nothing', async () => {
    const { port, flood, ask } = await start({ refusalDelayMs: 3_600_000, maxRequestsPerAddress: 1 })
    expect((await flood(maxRefusals, '/health')).status).toBe(200)
    const socket = await open(port)
    const answer = readAll(socket)
    socket.write('GET /ready HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await ask('/supported')).status).toBe(200)
    expect(await Promise.race([answer, Promise.resolve('waits')])).toBe('waits')
    socket.destroy()
    expect(await answer).toBe('')
  })

  it('of probes that one connection sends at once is closed at the second one that would wait', async () => {
    const { port, flood } = await start({ refusalDelayMs: 50 })
    await flood(maxRefusals, '/health')
    const socket = await open(port)
    const answers = readAll(socket)
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8))
    expect([...(await answers).matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual([
      '200',
      '429',
    ])
  })

  it('of probes is answered after the delay, and never refused', async () => {
    const { flood } = await start({ refusalDelayMs: 50 })
    const last = await flood(maxRefusals + 3, '/health')
    expect(last.status).toBe(200)
    expect(last.headers.get('connection')).not.toBe('close')
  })

  it('of probes passes again at the pace at which probes are served', async () => {
    const { port, clock, flood } = await start({ refusalDelayMs: 3_600_000 })
    await flood(maxRefusals, '/health')
    // What waits does not count.
    for (const socket of await Promise.all([open(port), open(port)])) {
      socket.end('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
      await readAll(socket)
    }
    for (let second = 0; second < 3; second += 1) {
      await clock.advance(1_000)
      expect((await flood(refusalsPerSecond, '/health')).status).toBe(200)
    }
  })

  it('with a valid key is refused by its customer only', async () => {
    const { ask, flood, countHeard } = await start({
      dashboard: { authenticate: async ({ apiKey }) => ({ ...merchant, customer: apiKey }) },
    })
    expect((await ask('/supported', { 'x-api-key': otherKey })).status).toBe(200)
    const last = await flood(untilBarred, '/tiers', key)
    expect(last.headers.get('connection')).toBe('close')
    expect(countHeard()).toBe(1 + limitPerMinute + maxRefusals)
    expect((await ask('/supported', { 'x-api-key': otherKey })).status).toBe(200)
    expect((await ask('/supported')).status).toBe(200)
  })

  it('with several keys of one mailbox is refused as with one', async () => {
    const { flood, countHeard } = await start(bothKeys)
    for (const name of [1, 2, 3]) await flood(1, '/supported', { 'x-api-key': keyOf(name) })
    const before = countHeard()
    for (const name of [1, 2, 3]) await flood(maxRefusals, '/tiers', { 'x-api-key': keyOf(name) })
    expect(countHeard() - before).toBe(limitPerMinute + maxRefusals)
  })

  it('with keys of many mailboxes that are not proven is refused as with four', async () => {
    const { ask, flood, countHeard } = await start({
      dashboard: {
        authenticate: async ({ apiKey }) =>
          apiKey === knownKey ? merchant : { ...merchant, customer: apiKey, isProven: false },
      },
    })
    const names = Array.from({ length: 8 }, (_, name) => name)
    await flood(1, '/supported', key)
    for (const name of names) await flood(1, '/supported', { 'x-api-key': keyOf(name) })
    const before = countHeard()
    for (const name of names) await flood(100, '/tiers', { 'x-api-key': keyOf(name) })
    const served =
      names.filter((name) => name * (100 - limitPerMinute) < 4 * maxRefusals).length * limitPerMinute
    expect(countHeard() - before).toBe(4 * maxRefusals + served)
    expect((await ask('/supported', key)).status).toBe(200)
    expect((await ask('/supported')).status).toBe(200)
  })

  it('fills a few lines of the log, not one for each refusal', async () => {
    const { flood, logger } = await start()
    await flood(limitPerMinute + 3 * maxRefusals)
    const requests = logger.lines.filter(({ message }) => message === 'request.completed')
    expect(requests.length).toBeLessThanOrEqual(limitPerMinute + 10)
    const [summary, ...others] = logger.lines.filter(({ message }) => message === 'requests.refused')
    expect(summary?.fields).toMatchObject({ remoteAddress: expect.stringContaining('127.0.0.1') })
    expect(others.length).toBeLessThanOrEqual(3)
  })
})

it('limits of a payer never count against the merchant that forwards its payments', async () => {
  const { ask, port } = await start({
    ...bothKeys,
    core: {
      verifyPayment: async () => {
        throw new AppError('RATE_LIMITED', 'Too many settlements of this payer')
      },
    },
  })
  for (let count = 0; count < maxRefusals + 5; count += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...key },
      body: JSON.stringify(paymentBody()),
    })
    expect(response.status).toBe(429)
  }
  expect((await ask('/supported', key)).status).toBe(200)
})
