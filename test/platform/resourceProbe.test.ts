import { gzipSync } from 'node:zlib'
import { Client } from 'undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createResourceProbe } from '../../src/platform/resourceProbe.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'
import { testCertificate } from '../support/testCertificate.js'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhookReceiver.js'

const running = new AbortController().signal

describe('the probe of a resource', () => {
  let receiver: WebhookReceiver
  beforeEach(async () => {
    receiver = await startWebhookReceiver()
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    return receiver.close()
  })

  const createProbe = (given: Parameters<typeof createResourceProbe>[0] = {}) =>
    createResourceProbe({
      ca: testCertificate,
      resolveHost: async () => ['127.0.0.1'],
      isAllowed: (address) => address === '127.0.0.1',
      allowsPort: () => true,
      ...given,
    })
  const get = (given: Parameters<typeof createResourceProbe>[0] = {}, url = receiver.url) =>
    createProbe(given).ask(url, running)

  it('gets the resource without a body and reads header and body of the answer', async () => {
    receiver.answer(() => ({ status: 402, headers: { 'PAYMENT-REQUIRED': 'e30=' }, body: '{"accepts":[]}' }))
    expect(await get()).toEqual({
      status: 402,
      paymentRequired: 'e30=',
      body: '{"accepts":[]}',
      error: null,
    })
    expect(receiver.received).toMatchObject([
      {
        body: '',
        headers: { 'user-agent': expect.stringMatching(/^quittance\//), 'accept-encoding': 'identity' },
      },
    ])
    expect(receiver.received[0]?.headers).not.toHaveProperty('authorization')
  })

  it('does not follow a redirect', async () => {
    receiver.answer(() => ({ status: 302, headers: { location: `${receiver.url}/elsewhere` } }))
    expect(await get()).toMatchObject({ status: 302 })
    expect(receiver.received).toHaveLength(1)
  })

  it('takes a PAYMENT-REQUIRED of 50 kB', async () => {
    receiver.answer(() => ({ status: 402, headers: { 'payment-required': 'x'.repeat(50_000) } }))
    expect(await get()).toMatchObject({ paymentRequired: 'x'.repeat(50_000) })
  })

  it('reads no body of 5 MB, but the header beside it', async () => {
    receiver.answer(() => ({
      status: 402,
      headers: { 'payment-required': 'e30=' },
      body: 'x'.repeat(5_000_000),
      isEndless: true,
    }))
    expect(await get()).toEqual({ status: 402, paymentRequired: 'e30=', body: null, error: null })
  })

  it('does not decompress a body', async () => {
    const compressed = gzipSync('{"accepts":[]}').toString('latin1')
    receiver.answer(() => ({ status: 402, headers: { 'content-encoding': 'gzip' }, body: compressed }))
    expect(await get()).toMatchObject({ status: 402, body: null })
  })

  it('cuts a server that does not answer', async () => {
    receiver.answer(() => new Promise(() => undefined))
    expect(await get({ deadlineMs: 200 })).toEqual({ status: null, error: 'No answer within 0.2 s' })
  })

  it('cuts a body that does not end', async () => {
    receiver.answer(() => ({ status: 402, body: '{"accepts":[', isEndless: true }))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { settledResults } = vi.spyOn(Client.prototype, 'request').mock
    const answer = get({ deadlineMs: waitLimitMs })
    await pollUntil(() => settledResults[0]?.type === 'fulfilled', 'the headers of the response')
    vi.advanceTimersByTime(waitLimitMs)
    expect(await answer).toMatchObject({ status: 402, body: null })
  })

  it.each([
    ['loopback', ['127.0.0.1']],
    ['a private network', ['10.0.0.1']],
    ['the metadata service', ['169.254.169.254']],
    ['a public address beside a private one', ['93.184.216.34', '127.0.0.1']],
  ])('never connects to a name of %s on a public instance', async (_case, addresses) => {
    const strict = createResourceProbe({
      ca: testCertificate,
      allow: [],
      resolveHost: async () => addresses,
      allowsPort: () => true,
    })
    expect(await strict.ask(receiver.url, running)).toEqual({
      status: null,
      error: 'The host has no public address',
    })
    expect(receiver.countConnections()).toBe(0)
  })

  it.each([
    'http://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'http://shop.example/',
    'https://shop.example:22/',
  ])('never requests %s on a public instance', async (url) => {
    const strict = createResourceProbe({ allow: [], resolveHost: async () => ['127.0.0.1'] })
    expect(await strict.ask(url, running)).toMatchObject({ status: null })
  })
})
