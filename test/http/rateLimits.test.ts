import { describe, expect, it } from 'vitest'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../../src/ports/rateLimiter.js'
import { defaultRequestLimits, listRequestLimits } from '../../src/protocol/requestLimits.js'
import { tiers } from '../../src/protocol/tiers.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createManualClock } from '../support/manualClock.js'
import { testApp } from './support/app.js'
import { type LimitedAppOptions, limitedApp } from './support/limitedApp.js'
import { paymentBody } from './support/payment.js'

const minuteMs = 60_000
const hourMs = 3_600_000
const methods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const

interface TestRequest {
  readonly endpoint: string
  readonly key?: string | undefined
  readonly address?: string
  readonly headers?: Readonly<Record<string, string>>
}

const open = (parts: Partial<LimitedAppOptions> = {}) => {
  const clock = createManualClock()
  const limiter = createMemoryRateLimiter({ clock })
  let takenByLast: (readonly LimitWindow[])[] = []
  const take: RateLimiter['take'] = (windows) => {
    takenByLast.push(windows)
    return limiter.take(windows)
  }
  const app = limitedApp({ limiter: { ...limiter, take }, clock, ...parts })
  const ask = async ({ endpoint, key, address = '203.0.113.9', headers = {} }: TestRequest) => {
    const method = methods.find((each) => endpoint.startsWith(`${each} `))
    if (method === undefined) throw new Error(`${endpoint} has no method`)
    takenByLast = []
    return await app.inject({
      method,
      url: endpoint.slice(method.length + 1).replace(':id', 'intent-1'),
      remoteAddress: address,
      headers: { ...headers, ...(key === undefined ? {} : { 'x-api-key': key }) },
    })
  }
  const sendMany = async (count: number, question: (index: number) => TestRequest) => {
    const statuses: number[] = []
    for (let index = 0; index < count; index += 1) statuses.push((await ask(question(index))).statusCode)
    return statuses
  }
  /** Counts what the last request counted, without the processor time of requests. */
  const repeatLast = async (times: number) => {
    for (let each = 0; each < times; each += 1) {
      for (const windows of takenByLast) {
        if (!(await limiter.take(windows)).isAllowed) throw new Error('The last request would be refused')
      }
    }
  }
  return { clock, limiter, ask, sendMany, repeatLast }
}

const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((each) => each === status).length

const differentAddress = (index: number): string => `198.51.${Math.floor(index / 250)}.${(index % 250) + 1}`

describe("the specification's request rates", () => {
  const rows: readonly (readonly [
    endpoint: string,
    who: string,
    limit: number,
    windowMs: number,
    whose: string,
  ])[] = [
    ['POST /verify', 'anonymous', 1_000, minuteMs, 'one address'],
    ['GET /supported', 'anonymous', 1_000, minuteMs, 'one address'],
    ['GET /docs/', 'anonymous', 1_000, minuteMs, 'one address'],
    ['POST /settle', 'anonymous', 100, minuteMs, 'one address'],
    ['POST /v1/intent/:id/execute', 'anonymous', 100, minuteMs, 'one address'],
    ['POST /v1/stream/open', 'anonymous', 100, minuteMs, 'one address'],
    ['POST /v1/stream/close', 'anonymous', 100, minuteMs, 'one address'],
    ['POST /v1/intent', 'anonymous', 60, minuteMs, 'one address'],
    ['POST /v1/intent/:id/refresh', 'anonymous', 60, minuteMs, 'one address'],
    ['POST /v1/intent/:id/route', 'anonymous', 120, minuteMs, 'one address'],
    ['POST /v1/intent', 'scale', 600, minuteMs, 'all addresses'],
    ['POST /v1/intent/:id/refresh', 'scale', 600, minuteMs, 'all addresses'],
    ['POST /v1/siwx/nonce', 'anonymous', 120, minuteMs, 'one address'],
    ['POST /v1/siwx/verify', 'anonymous', 120, minuteMs, 'one address'],
    ['POST /register', 'anonymous', 5, hourMs, 'one address'],
    ['POST /register', 'scale', 5, hourMs, 'one address'],
    ['POST /lookup', 'anonymous', 5, hourMs, 'one address'],
    ['POST /discovery/validate', 'anonymous', 60, minuteMs, 'one address'],
    ['POST /v1/discovery/validate', 'anonymous', 60, minuteMs, 'one address'],
    ['POST /v1/credit/refresh', 'anonymous', 30, minuteMs, 'one address'],
    ['POST /v1/credit/refresh', 'scale', 30, minuteMs, 'one address'],
    ['POST /verify', 'free', 10, minuteMs, 'all addresses'],
    ['POST /verify', 'builder', 100, minuteMs, 'all addresses'],
    ['POST /verify', 'scale', 1_000, minuteMs, 'all addresses'],
    ['POST /verify', 'enterprise', 10_000, minuteMs, 'all addresses'],
    ['POST /settle', 'scale', 1_000, minuteMs, 'all addresses'],
    ['POST /v1/stream/open', 'free', 10, minuteMs, 'all addresses'],
    ['POST /v1/stream/close', 'free', 10, minuteMs, 'all addresses'],
    ['GET /dashboard/info', 'free', 120, minuteMs, 'all addresses'],
    ['GET /dashboard/keys', 'free', 1_000, minuteMs, 'all addresses'],
    ['POST /dashboard/rotate', 'free', 5, minuteMs, 'all addresses'],
    ['POST /dashboard/webhook/test', 'free', 5, minuteMs, 'all addresses'],
    ['POST /dashboard/api-keys', 'free', 10, minuteMs, 'all addresses'],
    ['POST /dashboard/recipients', 'free', 30, minuteMs, 'all addresses'],
    ['POST /dashboard/recipients/message', 'free', 30, minuteMs, 'all addresses'],
    ['POST /dashboard/restrictions', 'free', 30, minuteMs, 'all addresses'],
    ['POST /dashboard/webhook', 'free', 30, minuteMs, 'all addresses'],
    ['POST /sandbox/scenarios', 'anonymous', 60, minuteMs, 'one address'],
    ['POST /sandbox/inbox', 'scale', 60, minuteMs, 'one address'],
    ['POST /sandbox/clock/advance', 'anonymous', 120, minuteMs, 'one address'],
  ]

  it.each(rows)('%s from %s: %i in %i ms from %s', async (endpoint, who, limit, windowMs, whose) => {
    const { sendMany, clock, repeatLast } = open()
    const question = (index: number): TestRequest => ({
      endpoint,
      key: who === 'anonymous' ? undefined : who,
      address: whose === 'one address' ? '203.0.113.9' : differentAddress(index),
    })
    const first = Math.min(limit - 1, 5)
    expect(count(await sendMany(first, question), 200)).toBe(first)
    await repeatLast(limit - first - 1)
    const [last, ...above] = await sendMany(4, (index) => question(first + index))
    expect(last).toBe(200)
    expect(above).toEqual([429, 429, 429])
    await clock.advance(windowMs - 1)
    expect(await sendMany(1, () => question(0))).toEqual([429])
    await clock.advance(1)
    expect(await sendMany(1, () => question(0))).toEqual([200])
  })

  it.each(['GET /health', 'GET /ready', 'GET /metrics', 'OPTIONS /verify'])(
    '%s has none',
    async (endpoint) => {
      const { ask, sendMany } = open()
      const statuses = await sendMany(1_100, () => ({ endpoint }))
      expect(count(statuses, 429)).toBe(0)
      const { headers } = await ask({ endpoint })
      expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
    },
  )

  it('are all tested here', () => {
    const table = listRequestLimits(defaultRequestLimits)
    const untested = table.filter(
      ({ limit, windowMs }) => !rows.some((row) => row[2] === limit && row[3] === windowMs),
    )
    expect(untested).toEqual([])
    expect(table).toHaveLength(39)
  })

  it('let every tier update its streams 60,000 times a minute, which uses up nothing else', async () => {
    const { ask, sendMany } = open()
    const key = 'free'
    expect(count(await sendMany(1_100, () => ({ endpoint: 'POST /v1/stream/update', key })), 200)).toBe(1_100)
    expect((await ask({ endpoint: 'POST /v1/stream/update', key })).headers).toMatchObject({
      'x-ratelimit-limit': '60000',
    })
    for (const endpoint of ['POST /v1/stream/close', 'POST /settle', 'GET /supported']) {
      expect((await ask({ endpoint, key })).statusCode).toBe(200)
    }
  })

  it('are disabled by 0', async () => {
    const { sendMany } = open({ figures: { anonymousRequestsPerMinute: 0, anonymousSettlesPerMinute: 0 } })
    expect(count(await sendMany(1_100, () => ({ endpoint: 'POST /settle' })), 200)).toBe(1_100)
  })
})

describe('callers', () => {
  it('with different keys or addresses have separate counts', async () => {
    const { sendMany } = open()
    const endpoint = 'POST /verify'
    expect(count(await sendMany(11, () => ({ endpoint, key: 'free' })), 429)).toBe(1)
    expect(await sendMany(1, () => ({ endpoint, key: 'free 2' }))).toEqual([200])
    expect(await sendMany(1, () => ({ endpoint }))).toEqual([200])
    expect(count(await sendMany(101, () => ({ endpoint: 'POST /settle' })), 429)).toBe(1)
    expect(await sendMany(1, () => ({ endpoint: 'POST /settle', address: '203.0.113.10' }))).toEqual([200])
  })

  it('have the rate of their tier for verify and for settle, so that a sale counts once against it', async () => {
    const { sendMany } = open()
    const key = 'free'
    const sales = await sendMany(20, (index) => ({
      endpoint: index % 2 === 0 ? 'POST /verify' : 'POST /settle',
      key,
    }))
    expect(sales).not.toContain(429)
    expect(await sendMany(1, () => ({ endpoint: 'POST /verify', key }))).toEqual([429])
    expect(await sendMany(1, () => ({ endpoint: 'POST /settle', key }))).toEqual([429])
    expect(await sendMany(1, () => ({ endpoint: 'GET /supported', key }))).toEqual([200])
    expect(await sendMany(1, () => ({ endpoint: 'GET /dashboard/info', key }))).toEqual([200])
  })

  it('with a key are never slower than without where none is needed', async () => {
    const { sendMany } = open()
    const endpoint = 'GET /supported'
    expect(count(await sendMany(1_001, () => ({ endpoint, key: 'free' })), 200)).toBe(1_000)
    expect(count(await sendMany(1_001, () => ({ endpoint, key: 'enterprise' })), 200)).toBe(1_001)
  })

  it('with a tier without a rate are not limited', async () => {
    const table = { free: { ...tiers.free, rpmLimit: -1 } }
    const { sendMany } = open({ tiers: { table, source: 'configured', registration: 'free' } })
    const statuses = await sendMany(50, () => ({ endpoint: 'POST /settle', key: 'free' }))
    expect(count(statuses, 200)).toBe(50)
  })

  it('share one rate across the endpoints that need no key, except the dashboard', async () => {
    const { sendMany } = open({ figures: { anonymousRequestsPerMinute: 10 } })
    const [key, other] = ['free', 'GET /dashboard/info']
    expect(await sendMany(20, () => ({ endpoint: other, key }))).not.toContain(429)
    const spent = await sendMany(10, (index) => ({
      endpoint: index % 2 === 0 ? 'GET /docs/' : 'GET /supported',
      key,
    }))
    expect(spent).not.toContain(429)
    expect(await sendMany(1, () => ({ endpoint: 'GET /tiers', key }))).toEqual([429])
    expect(await sendMany(1, () => ({ endpoint: other, key }))).toEqual([200])
  })

  it('have separate counts for registration and lookup', async () => {
    const { sendMany } = open()
    expect(await sendMany(6, () => ({ endpoint: 'POST /register' }))).toEqual([200, 200, 200, 200, 200, 429])
    expect(await sendMany(6, () => ({ endpoint: 'POST /lookup' }))).toEqual([200, 200, 200, 200, 200, 429])
  })

  it('share one count for HEAD and GET', async () => {
    const { sendMany, ask } = open()
    await sendMany(3, () => ({ endpoint: 'HEAD /supported' }))
    expect((await ask({ endpoint: 'GET /supported' })).headers['x-ratelimit-remaining']).toBe('996')
  })
})

describe('several keys', () => {
  const from = (address: string) => (endpoint: string, key?: string) => ({ endpoint, key, address })
  const atHome = from('203.0.113.9')

  it.each([
    ['POST /verify', 10],
    ['POST /settle', 10],
    ['POST /v1/stream/open', 10],
    ['GET /dashboard/info', 120],
    ['POST /dashboard/rotate', 5],
    ['POST /v1/intent', 600],
  ])('of one mailbox share the count of %s', async (endpoint, limit) => {
    const { sendMany } = open()
    const statuses = await sendMany(limit + 20, (index) => ({
      endpoint,
      key: `free ${index % 3}@ada`,
      address: differentAddress(index),
    }))
    expect(count(statuses, 200)).toBe(limit)
    expect(await sendMany(1, () => ({ endpoint, key: 'free 1@eve' }))).toEqual([200])
  })

  describe('whose mailboxes are not proven', () => {
    const figures = { anonymousRequestsPerMinute: 50, anonymousSettlesPerMinute: 30 }
    const ofStranger = (index: number): string => `free ${index}?bot${index}`

    it.each([
      ['POST /verify', 50],
      ['POST /settle', 30],
      ['POST /v1/stream/close', 30],
      ['GET /supported', 50],
    ])('have at one address for %s what it has without a key: %i', async (endpoint, limit) => {
      const { sendMany } = open({ figures })
      const statuses = await sendMany(80, (index) => atHome(endpoint, ofStranger(index)))
      expect(count(statuses, 200)).toBe(limit)
      expect(await sendMany(1, () => atHome(endpoint, 'free 1@ada'))).toEqual([200])
      expect(await sendMany(1, () => atHome(endpoint))).toEqual([200])
      expect(await sendMany(1, () => from('203.0.113.10')(endpoint, 'free 1?bot1'))).toEqual([200])
    })

    it.each([
      ['GET /dashboard/keys', 1_000],
      ['POST /v1/intent', 600],
    ])('have at one address for %s what one of them has: %i', async (endpoint, limit) => {
      const { sendMany } = open()
      const statuses = await sendMany(limit + 50, (index) => atHome(endpoint, ofStranger(index)))
      expect(count(statuses, 200)).toBe(limit)
      expect(await sendMany(1, () => atHome(endpoint, 'free 1@ada'))).toEqual([200])
    })

    it('have eight times as much in an IPv6 /48', async () => {
      const { sendMany } = open({ figures })
      const statuses = await sendMany(400, (index) =>
        from(`2001:db8:1:${index.toString(16)}::1`)('POST /settle', ofStranger(index)),
      )
      expect(count(statuses, 200)).toBe(240)
    })

    it('have the rate of their tier where that is higher, one by one and from all addresses', async () => {
      const { sendMany } = open({ figures: { anonymousRequestsPerMinute: 5, anonymousSettlesPerMinute: 5 } })
      const endpoint = 'POST /settle'
      expect(count(await sendMany(20, () => atHome(endpoint, 'free 1?ada')), 200)).toBe(10)
      const elsewhere = await sendMany(20, (index) => from(differentAddress(index))(endpoint, 'free 1?eve'))
      expect(count(elsewhere, 200)).toBe(10)
    })

    it('cannot keep those of their address from rotating a key', async () => {
      const { sendMany } = open()
      await sendMany(50, (index) => atHome('POST /dashboard/rotate', ofStranger(index)))
      expect(await sendMany(1, () => atHome('POST /dashboard/rotate', 'free 1?ada'))).toEqual([200])
    })

    it('are not limited by an address without a limit', async () => {
      const { sendMany } = open({ figures: { anonymousRequestsPerMinute: 0, anonymousSettlesPerMinute: 0 } })
      const statuses = await sendMany(200, (index) => atHome('POST /settle', ofStranger(index)))
      expect(count(statuses, 200)).toBe(200)
    })
  })
})

describe('a rejected request', () => {
  it('draws from no window, not even those that would allow it', async () => {
    const { sendMany } = open()
    const endpoint = 'POST /register'
    expect(count(await sendMany(100, () => ({ endpoint })), 200)).toBe(5)
    const others = await sendMany(25, (index) => ({ endpoint, address: differentAddress(index) }))
    expect(count(others, 200)).toBe(25)
    expect(await sendMany(1, () => ({ endpoint, address: differentAddress(0) }))).toEqual([429])
  })

  it('draws nothing if the last window rejects it', async () => {
    const { sendMany, ask } = open()
    await sendMany(200, () => ({ endpoint: 'POST /settle' }))
    // 100 settles plus this one.
    expect((await ask({ endpoint: 'GET /supported' })).headers['x-ratelimit-remaining']).toBe('899')
  })

  it('receives 429 with Retry-After', async () => {
    const { ask, sendMany, clock } = open()
    await sendMany(10, () => ({ endpoint: 'POST /verify', key: 'free' }))
    await clock.advance(17_500)
    const response = await ask({ endpoint: 'POST /verify', key: 'free' })
    expect(response.statusCode).toBe(429)
    expect(response.json()).toEqual({
      code: 'RATE_LIMITED',
      message: 'Too many requests',
      operationalCode: 'SVC-2005',
      retryAfter: 43,
    })
    expect(response.headers).toMatchObject({
      'retry-after': '43',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(new Date('2026-01-01T00:01:00Z').getTime() / 1_000),
      'x-ratelimit-tier': 'free',
    })
  })

  it('receives the latest reset if several windows are exhausted', async () => {
    const { sendMany, ask } = open({ figures: { registrationsPerMinute: 5 } })
    const endpoint = 'POST /register'
    await sendMany(5, () => ({ endpoint }))
    expect((await ask({ endpoint })).headers['retry-after']).toBe('3600')
  })

  it('has a Retry-After between 1 s and the window length, even if clocks differ', async () => {
    const clock = createManualClock()
    for (const [aheadMs, seconds] of [
      [-50_000, '1'],
      [900_000, '60'],
    ] as const) {
      const resetsAt = new Date(clock.now().getTime() + aheadMs)
      const take = async () => ({ isAllowed: false, refusedBy: 0, windows: [{ remaining: 0, resetsAt }] })
      const { ask } = open({
        limiter: {
          take,
          refund: async () => undefined,
          isDegraded: () => false,
          close: async () => undefined,
        },
      })
      expect((await ask({ endpoint: 'GET /supported' })).headers['retry-after']).toBe(seconds)
    }
  })
})

describe('X-RateLimit-*', () => {
  it('describes the tier for callers with a key, and the address limit for others', async () => {
    const { ask } = open()
    const resetsAt = String(new Date('2026-01-01T00:01:00Z').getTime() / 1_000)
    expect((await ask({ endpoint: 'POST /settle', key: 'scale' })).headers).toMatchObject({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': resetsAt,
      'x-ratelimit-tier': 'scale',
    })
    const { headers } = await ask({ endpoint: 'POST /settle' })
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': resetsAt,
    })
    expect(headers).not.toHaveProperty('x-ratelimit-tier')
  })

  it('describes the window with the fewest requests remaining', async () => {
    const { ask, sendMany } = open()
    const remaining = async (endpoint: string) => (await ask({ endpoint })).headers['x-ratelimit-remaining']
    expect(await remaining('POST /settle')).toBe('99')
    await sendMany(950, () => ({ endpoint: 'GET /supported' }))
    expect(await remaining('POST /settle')).toBe('48')
  })

  it.each([
    ['GET /dashboard/info', '120'],
    ['POST /dashboard/rotate', '5'],
    ['GET /dashboard/keys', '1000'],
  ])('of %s describes the dashboard limit', async (endpoint, limit) => {
    const { headers } = await open().ask({ endpoint, key: 'free' })
    expect(headers['x-ratelimit-limit']).toBe(limit)
  })
})

describe('addresses', () => {
  const settles = async (
    addresses: readonly string[],
    parts: Partial<LimitedAppOptions> = {},
    forwardedFor: readonly string[] = [],
  ) => {
    const { ask } = open({ figures: { anonymousSettlesPerMinute: 1 }, ...parts })
    const statuses: number[] = []
    for (const [index, address] of addresses.entries()) {
      const forwarded = forwardedFor[index]
      const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
      statuses.push((await ask({ endpoint: 'POST /settle', address, headers })).statusCode)
    }
    return statuses
  }

  it.each([
    ['one /64', ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff:ffff:ffff:ffff'], [200, 429, 429]],
    ['two of one customer’s /48', ['2001:db8:0:1::1', '2001:db8:0:2::1'], [200, 200]],
    [
      'one IPv4 address in three forms',
      ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109'],
      [200, 429, 429],
    ],
    ['two IPv4 addresses in IPv6 form', ['::ffff:203.0.113.9', '::ffff:203.0.113.10'], [200, 200]],
    ['one address with different zones', ['fe80::1%eth0', 'fe80::1%eth1'], [200, 429]],
  ])('%s', async (_what, addresses, statuses) => {
    expect(await settles(addresses)).toEqual(statuses)
  })

  it('in X-Forwarded-For count only from a trusted proxy', async () => {
    const claimed = ['1.1.1.1', '2.2.2.2', '3.3.3.3']
    const peers = Array.from({ length: 3 }, () => '203.0.113.9')
    expect(await settles(peers, {}, claimed)).toEqual([200, 429, 429])
    expect(await settles(peers, { trustProxy: ['10.0.0.0/8'] }, claimed)).toEqual([200, 429, 429])
    expect(await settles(peers, { trustProxy: ['203.0.113.0/24'] }, claimed)).toEqual([200, 200, 200])
  })

  it('that a client prepends to X-Forwarded-For are ignored', async () => {
    const peers = ['10.0.0.1', '10.0.0.1']
    const claimed = ['1.1.1.1, 198.51.100.7', '2.2.2.2, 198.51.100.7']
    expect(await settles(peers, { trustProxy: ['10.0.0.0/8'] }, claimed)).toEqual([200, 429])
  })

  it('that are invalid share one count', async () => {
    const claimed = ['nonsense', 'x'.repeat(5_000), '999.1.1.1']
    const peers = Array.from({ length: 3 }, () => '10.0.0.1')
    expect(await settles(peers, { trustProxy: ['10.0.0.0/8'] }, claimed)).toEqual([200, 429, 429])
  })
})

describe('networks of one IPv6 site (A55)', () => {
  const inSite = (index: number): string => `2001:db8:1:${index.toString(16)}::1`

  it('cannot use up the registration window of everyone', async () => {
    const { sendMany } = open()
    const endpoint = 'POST /register'
    const statuses = await sendMany(60, (index) => ({ endpoint, address: inSite(index) }))
    expect(count(statuses, 200)).toBe(10)
    expect(await sendMany(1, () => ({ endpoint, address: '2001:db8:2::1' }))).toEqual([200])
    expect(await sendMany(1, () => ({ endpoint }))).toEqual([200])
  })

  it('have together eight times the anonymous limit of one', async () => {
    const { sendMany } = open({ figures: { anonymousSettlesPerMinute: 10 } })
    const endpoint = 'POST /settle'
    const statuses = await sendMany(200, (index) => ({ endpoint, address: inSite(index) }))
    expect(count(statuses, 200)).toBe(80)
  })
})

describe.each(['POST /register', 'POST /lookup'])(
  '%s, when its window of all callers is used up,',
  (endpoint) => {
    const openUsedUp = async (parts: Partial<LimitedAppOptions> = {}) => {
      const opened = open(parts)
      const useUp = async () => expect(count(await opened.sendMany(35, servedBefore), 200)).toBe(30)
      const from = async (address: string) => (await opened.ask({ endpoint, address })).statusCode
      await useUp()
      return { ...opened, useUp, from }
    }
    // Seven addresses, five times each.
    const servedBefore = (index: number): TestRequest => ({ endpoint, address: `203.0.${index % 7}.7` })
    const anywhere = (index: number): string => `192.${index}.2.1`

    it('serves each address that it did not serve for a day, once', async () => {
      const { from, clock, useUp } = await openUsedUp()
      expect(await from('192.0.2.1')).toBe(200)
      expect(await from('192.0.2.1')).toBe(429)
      expect(await from('203.0.1.7')).toBe(429)
      await clock.advance(23 * hourMs)
      await useUp()
      expect(await from('192.0.2.1')).toBe(429)
      await clock.advance(hourMs)
      await useUp()
      expect(await from('192.0.2.1')).toBe(200)
      expect(await from('203.0.1.7')).toBe(429)
    })

    it.each<readonly [string, (index: number) => string, number]>([
      ['an IPv6 /48', (index) => `2001:db8:1:${index.toString(16)}::1`, 1],
      ['an IPv4 /24', (index) => `192.0.2.${index + 1}`, 8],
      ['all networks', anywhere, 30],
    ])('spares of newcomers in %s so many', async (_network, addressOf, spared) => {
      const { sendMany, from } = await openUsedUp()
      const statuses = await sendMany(40, (index) => ({ endpoint, address: addressOf(index) }))
      expect(count(statuses, 200)).toBe(spared)
      if (spared < 30) expect(await from('198.18.0.1')).toBe(200)
    })

    it('spares in a day 64 newcomers of an IPv6 /32, in which a provider has all its customers', async () => {
      const { sendMany, from, clock, useUp } = await openUsedUp()
      let spared = 0
      for (let hour = 1; hour <= 3; hour += 1) {
        const addressOf = (index: number) => `2001:db8:${(hour * 256 + index).toString(16)}::1`
        spared += count(await sendMany(30, (index) => ({ endpoint, address: addressOf(index) })), 200)
        if (hour === 3) break
        await clock.advance(hourMs)
        await useUp()
      }
      expect(spared).toBe(64)
      expect(await from('2001:db9::1')).toBe(200)
    })

    it('tells refused newcomers to come back when the window of all callers begins again', async () => {
      const { sendMany, ask } = await openUsedUp()
      await sendMany(40, (index) => ({ endpoint, address: anywhere(index) }))
      const { headers } = await ask({ endpoint, address: '198.18.0.1' })
      expect(headers).toMatchObject({ 'retry-after': '60', 'x-ratelimit-limit': '30' })
    })

    it('remembers whom it served although a flood of addresses fills the memory', async () => {
      const clock = createManualClock()
      const limiter = createMemoryRateLimiter({ clock, maxBuckets: 200 })
      const { sendMany, from } = await openUsedUp({ clock, limiter })
      expect(await from('192.0.2.1')).toBe(200)
      await sendMany(1_000, (index) => ({ endpoint: 'GET /supported', address: differentAddress(index) }))
      expect(limiter.countBuckets()).toBe(200)
      expect(await from('192.0.2.1')).toBe(429)
      expect(await from('203.0.1.7')).toBe(429)
      expect(await from('198.18.0.1')).toBe(200)
    })
  },
)

describe('one request', () => {
  it('calls the limiter once for all windows, and once more for those of registration', async () => {
    const questions: (readonly LimitWindow[])[] = []
    const clock = createManualClock()
    const counting = createMemoryRateLimiter({ clock })
    const limiter: RateLimiter = {
      ...counting,
      take: (windows) => {
        questions.push(windows)
        return counting.take(windows)
      },
    }
    const { ask } = open({ limiter, clock })
    await ask({ endpoint: 'POST /register', key: 'free' })
    // Registration windows count after the body was validated.
    const ofRegistration = [[1_000], [30, 5, 1]]
    expect(questions.map((windows) => windows.map(({ limit }) => limit))).toEqual(ofRegistration)
    await ask({ endpoint: 'POST /register' })
    expect(questions.slice(2).map((windows) => windows.map(({ limit }) => limit))).toEqual(ofRegistration)
    await ask({ endpoint: 'GET /dashboard/info', key: 'free' })
    expect(questions[4]?.map(({ limit }) => limit)).toEqual([1_000, 120])
    expect(questions).toHaveLength(5)
  })
})

describe('while the shared store is down', () => {
  const clock = createManualClock()
  const inProcess = createMemoryRateLimiter({ clock })

  it.each(['POST /register', 'POST /lookup'])('%s is closed', async (endpoint) => {
    const response = await open({ limiter: { ...inProcess, isDegraded: () => true } }).ask({ endpoint })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 5 })
  })

  it('/register is closed for the request that detects the failure, and gives back what it took', async () => {
    let isDegraded = false
    const taken: RateLimitResult[] = []
    const refunded: RateLimitResult[] = []
    const limiter: RateLimiter = {
      ...inProcess,
      refund: async (_windows, result) => void refunded.push(result),
      isDegraded: () => isDegraded,
      take: async (windows) => {
        isDegraded = true
        const result = await inProcess.take(windows)
        taken.push(result)
        return result
      },
    }
    expect((await open({ limiter }).ask({ endpoint: 'POST /register' })).statusCode).toBe(503)
    expect(refunded).toEqual(taken)
    expect(refunded).toHaveLength(1)
  })

  it.each(['POST /verify', 'POST /settle', 'GET /supported'])('%s is served', async (endpoint) => {
    const { ask } = open({ limiter: { ...inProcess, isDegraded: () => true } })
    expect((await ask({ endpoint })).statusCode).toBe(200)
  })
})

describe('the service', () => {
  const limitedService = () => {
    const clock = createManualClock()
    const limiter = createMemoryRateLimiter({ clock })
    const table = listRequestLimits({ ...defaultRequestLimits, anonymousRequestsPerMinute: 3 })
    return testApp({ limits: { limiter, clock, table } })
  }

  it('rejects requests before it reads the body', async () => {
    const app = limitedService()
    const headers = { ...json, origin: 'https://shop.example' }
    const post = () => app.inject({ method: 'POST', url: '/verify', payload: '{', headers })
    expect((await post()).statusCode).toBe(400)
    expect((await post()).statusCode).toBe(400)
    expect((await post()).statusCode).toBe(400)
    const refused = await post()
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toHaveProperty('x-request-id')
    expect(refused.headers).toMatchObject({ 'access-control-allow-origin': '*', 'retry-after': '60' })
  })

  it('limits the API reference, but neither probes nor preflights', async () => {
    const app = limitedService()
    for (const url of ['/docs/', '/api/openapi.json', '/tiers']) {
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    for (const url of ['/docs/', '/api/openapi.yaml', '/info']) {
      expect((await app.inject(url)).statusCode).toBe(429)
    }
    for (const url of ['/health', '/ready', '/metrics']) expect((await app.inject(url)).statusCode).toBe(200)
    const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    const { statusCode } = await app.inject({ method: 'OPTIONS', url: '/verify', headers: preflight })
    expect(statusCode).toBe(204)
  })

  it('sends no limit headers if limits are disabled', async () => {
    const response = await testApp().inject({ method: 'POST', url: '/verify', payload: paymentBody() })
    expect(Object.keys(response.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
  })
})

const json = { 'content-type': 'application/json' }
