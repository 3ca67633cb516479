import { describe, expect, it } from 'vitest'
import {
  createPace,
  describePace,
  type PacedCaller,
  type PacedRequest,
  type PaceOptions,
} from '../../src/http/server/pace.js'
import { systemClock } from '../../src/platform/clock.js'
import { defaultRequestLimits, listRequestLimits } from '../../src/protocol/requestLimits.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { open as connect, listen } from './support/sockets.js'

const open = (findRate: PaceOptions['findRate'] = () => 100) => {
  let nowMs = 0
  const pace = createPace({ findRate, now: () => nowMs })
  const pass = (milliseconds: number) => {
    nowMs += milliseconds
  }
  const send = (caller: PacedCaller, count: number, request: Partial<PacedRequest> = {}) =>
    Array.from({ length: count }, () =>
      pace.findDelay(caller, { readsChains: false, apartPerMinute: 0, ...request }),
    )
  return { pace, pass, send }
}

const stranger = (site: string): PacedCaller => ({ isProven: false, site, customer: null, tier: null })

const customer = (name: string, parts: Partial<PacedCaller> = {}): PacedCaller => ({
  isProven: true,
  site: `site of ${name}`,
  customer: name,
  tier: 'free',
  ...parts,
})

describe('requests that a caller sends at once', () => {
  it('begin at once while there is no other caller', () => {
    const { send, pass } = open()
    expect(Math.max(...send(stranger('alone'), 1_000))).toBe(0)
    send(stranger('other'), 1)
    pass(1_001)
    send(stranger('alone'), 1)
    pass(1_001)
    expect(Math.max(...send(stranger('alone'), 1_000))).toBe(0)
  })

  it('begin at a steady rate while others send requests, whom they do not delay', () => {
    const { send } = open()
    send(stranger('good'), 1)
    const delays = send(stranger('hostile'), 108)
    expect(delays.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 0))
    expect(delays[8]).toBeCloseTo(10)
    expect(delays[107]).toBeCloseTo(1_000)
    expect(send(stranger('good'), 8)).toEqual(Array.from({ length: 8 }, () => 0))
  })

  it('wait no longer for what was sent long before', () => {
    const { send, pass } = open()
    send(stranger('good'), 1)
    send(stranger('hostile'), 50)
    pass(500)
    send(stranger('good'), 1)
    expect(send(stranger('hostile'), 1)).toEqual([0])
  })

  it('wait 15 s at most', () => {
    const { send } = open()
    send(stranger('good'), 1)
    expect(Math.max(...send(stranger('hostile'), 2_000))).toBeLessThanOrEqual(15_000)
  })

  it('have the rate of their tier', () => {
    const { send } = open((tier) => (tier === 'enterprise' ? 1_000 : 100))
    send(stranger('other'), 1)
    expect(send(customer('large', { tier: 'enterprise' }), 108)[107]).toBeCloseTo(100)
    expect(send(customer('small'), 108)[107]).toBeCloseTo(1_000)
  })

  it('have a rate apart at endpoints that have a limit apart, such as updates of streams', () => {
    const { send } = open((_tier, { apartPerMinute }) => (apartPerMinute > 0 ? 1_000 : 100))
    send(stranger('other'), 1)
    const apart = { apartPerMinute: 60_000 }
    expect(send(customer('busy'), 108, apart)[107]).toBeCloseTo(100)
    expect(send(customer('busy'), 8)).toEqual(Array.from({ length: 8 }, () => 0))
  })

  it('are not delayed where the rate is unlimited', () => {
    const { send } = open(() => Number.POSITIVE_INFINITY)
    send(stranger('other'), 1)
    expect(Math.max(...send(stranger('hostile'), 100))).toBe(0)
  })

  it('delay customers with proven mailboxes no more than others at their site', () => {
    const { send } = open()
    send(stranger('other'), 1)
    send(customer('one', { site: 'shared' }), 100)
    send(stranger('shared'), 100)
    expect(send(customer('two', { site: 'shared' }), 1)).toEqual([0])
  })

  it('have one rate for all keys of a site whose mailboxes are not proven, apart from its requests without a key', () => {
    const { send } = open()
    const keyed = (name: string) => customer(name, { site: 'shared', isProven: false })
    send(stranger('other'), 1)
    send(stranger('shared'), 100)
    expect(send(keyed('one'), 1)).toEqual([0])
    send(keyed('one'), 100)
    expect(send(keyed('two'), 1)[0]).toBeGreaterThan(900)
  })

  it('begin more slowly where they have chains read, with any key of a site', () => {
    const { send } = open()
    send(stranger('other'), 1)
    const readsChains = true
    send(customer('one', { site: 'shared' }), 11, { readsChains })
    const [delay] = send(customer('two', { site: 'shared' }), 1, { readsChains })
    expect(delay).toBeCloseTo(500)
    expect(send(customer('three', { site: 'shared' }), 1)).toEqual([0])
  })
})

describe('requests that have chains read', () => {
  it.each(['/v1/intent', '/v1/%69ntent', '/v1/intent/a/refresh?b=c', 'http://a/v1/inten%74'])(
    'are known: %s',
    (url) => {
      expect(describePace({ method: 'POST', url }).readsChains).toBe(true)
    },
  )

  it.each(['/v1/intents', '/v1/intent/a', '/verify', '/%'])('are not others: %s', (url) => {
    expect(describePace({ method: 'POST', url }).readsChains).toBe(false)
  })
})

describe('the server', () => {
  it('has not begun what one client sent at once after a hundred requests of another', async () => {
    let begun = 0
    const app = testApp({
      trustProxy: ['127.0.0.1'],
      core: {
        verifyPayment: async () => {
          begun += 1
          return { isValid: true }
        },
      },
      limits: {
        limiter: createMemoryRateLimiter({ clock: systemClock }),
        table: listRequestLimits(defaultRequestLimits),
        clock: systemClock,
      },
    })
    const port = await listen(app)
    const askAsAnother = async () => {
      const headers = { 'x-forwarded-for': '198.51.100.7' }
      await (await fetch(`http://127.0.0.1:${port}/tiers`, { headers })).text()
    }
    const payment = JSON.stringify(paymentBody())
    const head = [
      'POST /verify HTTP/1.1',
      'Host: localhost',
      'X-Forwarded-For: 203.0.113.9',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(payment)}`,
    ]
    const request = [...head, '', payment].join('\r\n')
    try {
      for (let connection = 0; connection < 40; connection += 1) {
        const socket = await connect(port)
        socket.resume().write(request)
        await askAsAnother()
        socket.write(request.repeat(7))
      }
      for (let asked = 0; asked < 60; asked += 1) await askAsAnother()
      expect(begun).toBeGreaterThanOrEqual(8)
      expect(begun).toBeLessThan(320)
    } finally {
      await app.close()
    }
  })
})
