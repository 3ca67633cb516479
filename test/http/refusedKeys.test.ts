import { describe, expect, it } from 'vitest'
import { refusedKeysPerMinute } from '../../src/http/plugins/refusedKeys.js'
import { createMemoryRateLimiter } from '../../src/stores/memory/rateLimiter.js'
import { createManualClock } from '../support/manualClock.js'
import { limitedApp } from './support/limitedApp.js'

const minuteMs = 60_000

/** Instances that share one limiter, and how often each looked a key up. */
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
  const guess = async (count: number, options: Parameters<typeof present>[1] = {}) => {
    const statuses: number[] = []
    for (let index = 0; index < count; index += 1) {
      statuses.push((await present(`guess-${index}`, options)).statusCode)
    }
    return statuses
  }
  return { clock, present, guess, lookedUp }
}

describe('keys that are nobody’s', () => {
  it('are looked up so often in a minute from one address, and not once more', async () => {
    const { clock, guess, lookedUp, present } = open()
    const statuses = await guess(100)
    expect(new Set(statuses.slice(0, refusedKeysPerMinute))).toEqual(new Set([401]))
    expect(new Set(statuses.slice(refusedKeysPerMinute))).toEqual(new Set([429]))
    expect(lookedUp).toHaveLength(refusedKeysPerMinute)

    const barred = await present('another guess')
    expect(barred.json()).toMatchObject({ code: 'RATE_LIMITED', operationalCode: 'SVC-2005', retryAfter: 60 })
    await clock.advance(minuteMs)
    expect((await present('another guess')).statusCode).toBe(401)
  })

  it('do not keep anybody from a probe, which looks at none', async () => {
    const { guess, lookedUp } = open()
    await guess(100)
    const before = lookedUp.length
    expect(new Set(await guess(100, { url: '/health' }))).toEqual(new Set([200]))
    expect(lookedUp).toHaveLength(before)
  })

  it('are counted across instances, which each find out once more', async () => {
    const { guess, lookedUp } = open(4)
    await guess(400)
    expect(lookedUp.length).toBeLessThanOrEqual(refusedKeysPerMinute + 4)
  })

  it('bar their address, not their neighbours, and nobody without a key', async () => {
    const { guess, present } = open()
    await guess(100, { address: '2001:db8::1' })
    expect((await present('free', { address: '2001:db8::2' })).statusCode).toBe(429)
    expect((await present('free', { address: '2001:db8:1::1' })).statusCode).toBe(200)
    expect((await open().guess(1, { address: '2001:db8::1' }))[0]).toBe(401)
  })

  it('do not lock out a key that was good a moment ago', async () => {
    const { clock, guess, present } = open()
    expect((await present('free')).statusCode).toBe(200)
    await guess(100)
    expect((await present('free')).statusCode).toBe(200)
    expect((await present('builder')).statusCode).toBe(429)
    await clock.advance(3 * minuteMs)
    await guess(100)
    expect((await present('free')).statusCode).toBe(429)
  })

  it('draw nothing from what their address may do without a key', async () => {
    const { guess, present } = open()
    await guess(20)
    await guess(1)
    const { headers } = await present('free')
    expect(headers['x-ratelimit-remaining']).toBe('9')
  })
})

describe('callers with a good key', () => {
  it('are never barred, however often they come', async () => {
    const { present } = open()
    for (let request = 0; request < 100; request += 1) {
      expect((await present('scale')).statusCode).toBe(200)
    }
  })
})
