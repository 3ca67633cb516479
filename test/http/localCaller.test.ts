import { describe, expect, it, vi } from 'vitest'
import { Secret } from '../../src/platform/secret.js'
import type { KeyViewer } from '../../src/usecases/dashboard/useCases.js'
import { knownKey, testApp } from './support/app.js'
import { listen, open, readAll } from './support/sockets.js'

const token = 'an-operator-token-of-some-length'

interface Call {
  readonly peer?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly trustProxy?: readonly string[]
}

/** A lookup as curl sends it; returns the viewer passed to the use case. */
const lookUpFrom = async ({ peer = '127.0.0.1', headers = {}, trustProxy = [] }: Call) => {
  const lookUp = vi.fn(async (email: string, _viewer: KeyViewer) => ({ email, keys: [] }))
  const app = testApp({ dashboard: { lookUp }, trustProxy, operatorToken: new Secret(token) })
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/lookup',
    remoteAddress: peer,
    headers: { host: 'localhost:8080', 'user-agent': 'curl/8.5.0', accept: '*/*', ...headers },
    payload: { email: 'ada@example.com' },
  })
  return { statusCode, viewer: lookUp.mock.calls[0]?.[1] }
}

const viewerOf = async (call: Call) => (await lookUpFrom(call)).viewer

describe('a program on this machine', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('is trusted from %s', async (peer) => {
    expect(await viewerOf({ peer })).toBe('trusted')
  })

  it.each([
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.1.2.3:80',
    '[::1]',
    '[::1]:8080',
  ])('is trusted with the Host %s', async (host) => {
    expect(await viewerOf({ headers: { host } })).toBe('trusted')
  })

  it('is trusted with a trusted proxy on another machine', async () => {
    expect(await viewerOf({ trustProxy: ['10.0.0.0/8', 'fd00::/8'] })).toBe('trusted')
  })

  it('is trusted over a socket, with curl’s headers and with those of Node’s fetch', async () => {
    const lookUp = vi.fn(async (email: string, _viewer: KeyViewer) => ({ email, keys: [] }))
    const app = testApp({ dashboard: { lookUp } })
    const port = await listen(app)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ email: 'ada@example.com' })
    await fetch(`http://127.0.0.1:${port}/lookup`, { method: 'POST', headers, body })
    await fetch(`http://localhost:${port}/lookup`, { method: 'POST', headers, body })
    expect(lookUp.mock.calls.map(([, viewer]) => viewer)).toEqual(['trusted', 'trusted'])
    await app.close()
  })

  it.each([
    ['as proxies do', 'HTTP/1.0', '127.0.0.1', 'stranger'],
    ['without a host', 'HTTP/1.1', '', 'stranger'],
    ['as programs do', 'HTTP/1.1', '127.0.0.1', 'trusted'],
  ])('that sends a request %s, by %s for “%s”, is %s', async (_name, protocol, host, viewer) => {
    const lookUp = vi.fn(async (email: string, _viewer: KeyViewer) => ({ email, keys: [] }))
    const app = testApp({ dashboard: { lookUp } })
    const socket = await open(await listen(app))
    const answer = readAll(socket)
    const body = JSON.stringify({ email: 'ada@example.com' })
    const head = [`Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${body.length}`]
    socket.write(`${[`POST /lookup ${protocol}`, ...head, 'Connection: close', '', ''].join('\r\n')}${body}`)
    expect(await answer).toContain(' 200 ')
    expect(lookUp.mock.calls.map(([, each]) => each)).toEqual([viewer])
    await app.close()
  })
})

describe('a stranger', () => {
  it.each([
    '203.0.113.7',
    '10.0.0.7',
    '192.168.1.5',
    '172.17.0.1',
    '169.254.1.1',
    '0.0.0.0',
    '::',
    '2001:db8::1',
  ])('is every caller from %s, with any Host', async (peer) => {
    expect(await viewerOf({ peer })).toBe('stranger')
  })

  it.each([
    ['x-forwarded-for', '203.0.113.7'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', 'localhost'],
    ['forwarded', 'for=127.0.0.1'],
    ['x-real-ip', '127.0.0.1'],
    ['via', '1.1 vegur'],
    ['cf-connecting-ip', '127.0.0.1'],
    ['cdn-loop', 'cloudflare'],
    ['true-client-ip', '127.0.0.1'],
    ['x-client-ip', '127.0.0.1'],
    ['fly-client-ip', '127.0.0.1'],
    ['x-amzn-trace-id', 'Root=1'],
    ['x-envoy-external-address', '127.0.0.1'],
    ['x-request-id', 'a'],
    ['traceparent', '00-1-2-01'],
    ['x-header-of-a-proxy-not-made-yet', '1'],
  ])('is a loopback request with %s: %s, as sent by a proxy', async (name, value) => {
    expect(await viewerOf({ headers: { [name]: value } })).toBe('stranger')
  })

  it.each([
    ['origin', 'https://evil.example'],
    ['origin', 'http://localhost:8080'],
    ['origin', 'null'],
    ['referer', 'https://evil.example/'],
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
    ['sec-fetch-site', 'same-origin'],
    ['cookie', 'a=b'],
    ['sec-ch-ua', '"Chromium";v="130"'],
  ])('is a loopback request with %s: %s, as sent by a browser', async (name, value) => {
    expect(await viewerOf({ headers: { [name]: value } })).toBe('stranger')
  })

  it.each([
    ...[
      'evil.example',
      'evil.example:8080',
      'localhost.evil.example',
      'evil.example#localhost',
      '0.0.0.0:8080',
    ],
    ...[
      '127.0.0.1.evil.example',
      '127.0.0.1@evil.example',
      '[::]',
      '192.168.1.5:8080',
      '2130706433',
      '127.1',
    ],
  ])('is a loopback request for the host %j (DNS rebinding)', async (host) => {
    expect(await viewerOf({ headers: { host } })).toBe('stranger')
  })

  it.each([
    ['10.0.0.1', '203.0.113.7'],
    ['10.0.0.1', '127.0.0.1'],
    ['10.0.0.1', '::1'],
    ['10.0.0.1', '127.0.0.1, 10.0.0.2'],
  ])('is a request through a trusted proxy at %s for %s', async (peer, client) => {
    const headers = { 'x-forwarded-for': client }
    expect(await viewerOf({ peer, headers, trustProxy: ['10.0.0.0/8'] })).toBe('stranger')
  })

  it.each([
    ...['127.0.0.1', '127.0.0.0/8', '127.0.0.6', '::1', '::1/128', '0.0.0.0/1', '::/1', '::ffff:127.0.0.1'],
    ...['::ffff:0.0.0.0/90', '64.0.0.0/2'],
  ])('is every local caller if TRUST_PROXY contains %s, forwarded or not', async (entry) => {
    for (const peer of ['127.0.0.1', '::1']) {
      expect(await viewerOf({ peer, trustProxy: ['10.0.0.1', entry] })).toBe('stranger')
    }
  })
})

describe('an operator', () => {
  it.each([
    ['from elsewhere', { peer: '203.0.113.7', headers: { host: 'pay.example' } }],
    ['through a proxy', { headers: { 'x-forwarded-for': '203.0.113.7' }, trustProxy: ['127.0.0.1'] }],
  ])('is trusted %s', async (_name, call) => {
    const headers = { ...call.headers, authorization: `Bearer ${token}` }
    expect(await lookUpFrom({ ...call, headers })).toEqual({ statusCode: 200, viewer: 'trusted' })
  })

  it.each([
    ['another token', `Bearer ${token}x`],
    ['a part of it', `Bearer ${token.slice(0, -1)}`],
  ])('is a stranger with %s, which is ignored like any foreign credential', async (_name, authorization) => {
    const call = { peer: '203.0.113.7', headers: { authorization } }
    expect(await lookUpFrom(call)).toEqual({ statusCode: 200, viewer: 'stranger' })
  })

  it('is not trusted with a key that is not valid, which is rejected', async () => {
    const headers = { authorization: `Bearer qtn_sk_${'f'.repeat(64)}` }
    expect(await lookUpFrom({ peer: '203.0.113.7', headers })).toEqual({ statusCode: 401, viewer: undefined })
  })

  it('is not the owner of a key', async () => {
    const call = { peer: '203.0.113.7', headers: { authorization: `Bearer ${knownKey}` } }
    expect(await viewerOf(call)).toBe('stranger')
  })
})
