import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer } from 'node:net'
import { Client } from 'undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGuardedFetch } from '../../src/platform/guardedExchange.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'
import { testCertificate } from '../support/testCertificate.js'
import {
  createLoopbackFetch,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhookReceiver.js'

const running = new AbortController().signal
const message = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{"a":1}' })

/** Production address rules, with the port and certificate of the test receiver. */
const createStrictFetch = (addresses: readonly string[] = ['127.0.0.1']) =>
  createGuardedFetch({
    ca: testCertificate,
    allowsPort: () => true,
    resolveHost: async () => addresses,
  })

describe('the guarded fetch', () => {
  let receiver: WebhookReceiver

  beforeEach(async () => {
    receiver = await startWebhookReceiver()
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    return receiver.close()
  })

  it('posts over TLS and returns the status', async () => {
    receiver.answer(() => ({ status: 202, body: 'thanks' }))
    const answer = await createLoopbackFetch().post(message(`${receiver.url}?a=b#c`), running)
    expect(answer).toEqual({ status: 202, error: null })
    expect(receiver.received).toMatchObject([
      { path: '/hook?a=b', body: '{"a":1}', headers: { host: `receiver.test:${receiver.port}` } },
    ])
  })

  it('rejects a certificate of an unknown authority', async () => {
    const trusting = createGuardedFetch({
      resolveHost: async () => ['127.0.0.1'],
      isAllowed: () => true,
      allowsPort: () => true,
    })
    const answer = await trusting.post(message(receiver.url), running)
    expect(answer).toEqual({ status: null, error: 'No answer: DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(receiver.received).toEqual([])
  })

  it('rejects a certificate for another name', async () => {
    const url = `https://other.test:${receiver.port}/`
    expect(await createLoopbackFetch().post(message(url), running)).toEqual({
      status: null,
      error: 'No answer: ERR_TLS_CERT_ALTNAME_INVALID',
    })
    expect(receiver.received).toEqual([])
  })

  describe('never connects to an address that is not public', () => {
    it.each([
      ['loopback', ['127.0.0.1']],
      ['loopback, IPv6', ['::1']],
      ['v4-mapped', ['::ffff:127.0.0.1']],
      ['NAT64', ['64:ff9b::7f00:1']],
      ['metadata', ['169.254.169.254']],
      ['a public one beside a private one', ['93.184.216.34', '127.0.0.1']],
      ['a private one beside a public one', ['127.0.0.1', '93.184.216.34']],
      ['none', []],
    ])('resolved from a name: %s', async (_, addresses) => {
      const answer = await createStrictFetch(addresses).post(message(receiver.url), running)
      expect(answer).toEqual({ status: null, error: 'The host has no public address' })
      expect(receiver.countConnections()).toBe(0)
    })

    it('that a name resolves to at connection time (DNS rebinding)', async () => {
      const answers = [['127.0.0.1'], ['10.0.0.1']]
      const asked: string[] = []
      const rebinding = createLoopbackFetch({
        resolveHost: async (hostname) => {
          asked.push(hostname)
          return answers.shift() ?? []
        },
      })
      expect(await rebinding.post(message(receiver.url), running)).toMatchObject({ status: 204 })
      expect(await rebinding.post(message(receiver.url), running)).toMatchObject({
        error: 'The host has no public address',
      })
      // One lookup per connection: the checked address is the one connected to.
      expect(asked).toEqual(['receiver.test', 'receiver.test'])
      expect(receiver.received).toHaveLength(1)
    })

    it.each([
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '017700000001',
      '0177.0.0.01',
      '127.0.0.1.',
      '１２７.０.０.１',
      '127。0。0。1',
      '%31%32%37.0.0.1',
      '①②⑦.⓪.⓪.①',
      '0.0.0.0',
      '0',
      '10.0.0.1',
      '169.254.169.254',
      '0xa9fea9fe',
      '100.64.0.1',
      '255.255.255.255',
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:0:7f00:1::]',
      '[fd00:ec2::254]',
      '[fe80::1]',
    ])('written in a URL as %s', async (host) => {
      const url = `https://${host}:${receiver.port}/hook`
      const fetch = createStrictFetch()
      expect(fetch.findUrlProblem(url)).toBe('must not point to a private or reserved address')
      expect(await fetch.post(message(url), running)).toEqual({
        status: null,
        error: 'The URL must not point to a private or reserved address',
      })
      expect(receiver.countConnections()).toBe(0)
    })

    it.each(['localhost', 'LOCALHOST', 'localhost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'app.localhost'])(
      'when a URL of the name %s is set',
      (host) => {
        expect(createGuardedFetch().findUrlProblem(`https://${host}/hook`)).toBe(
          'must not point to this machine',
        )
        expect(createGuardedFetch().findUrlProblem(`https://not${host.replace('.', '')}.example/hook`)).toBe(
          null,
        )
      },
    )

    it.each([
      'localhost',
      'LOCALHOST',
      'localhost.',
      'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
      '127.0.0.1.nip.io',
      'metadata.google.internal',
    ])('of the name %s', async (host) => {
      const url = `https://${host}:${receiver.port}/hook`
      expect(await createStrictFetch().post(message(url), running)).toEqual({
        status: null,
        error: 'The host has no public address',
      })
      expect(receiver.countConnections()).toBe(0)
    })
  })

  it.each([
    ['', 'must be a URL'],
    ['receiver.test/hook', 'must be a URL'],
    ['https://', 'must be a URL'],
    ['https://999.999.999.999/', 'must be a URL'],
    ['https://[::1/', 'must be a URL'],
    ['https://re ceiver.test/', 'must be a URL'],
    ['http://receiver.test/', 'must begin with https://'],
    ['HTTP://receiver.test/', 'must begin with https://'],
    ['ftp://receiver.test/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['javascript:alert(1)', 'must begin with https://'],
    ['gopher://receiver.test/', 'must begin with https://'],
    ['https://user@receiver.test/', 'must not contain a user or password'],
    ['https://user:password@receiver.test/', 'must not contain a user or password'],
    ['https://receiver.test@127.0.0.1/', 'must not contain a user or password'],
    ['https://receiver.test:80/', 'must have port 443 or 8443'],
    ['https://receiver.test:22/', 'must have port 443 or 8443'],
    ['https://receiver.test:6379/', 'must have port 443 or 8443'],
    ['https://127.0.0.1/', 'must not point to a private or reserved address'],
    ['https://2130706433/', 'must not point to a private or reserved address'],
    ['https:\\\\127.0.0.1/', 'must not point to a private or reserved address'],
    ['https:127.0.0.1', 'must not point to a private or reserved address'],
  ])('rejects the URL %s', (url, flaw) => {
    expect(createGuardedFetch().findUrlProblem(url)).toBe(flaw)
  })

  it.each([
    'https://receiver.test',
    'https://receiver.test:443/',
    'https://receiver.test:8443/a?b',
    'https://bücher.example/',
    'https://8.8.8.8/',
  ])('accepts the URL %s', (url) => {
    expect(createGuardedFetch().findUrlProblem(url)).toBeNull()
  })

  it.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
    receiver.answer(() => ({ status, headers: { location: `${receiver.url}/elsewhere` } }))
    expect(await createLoopbackFetch().post(message(receiver.url), running)).toEqual({ status, error: null })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  })

  it('waits for a response until its deadline', async () => {
    receiver.answer(() => new Promise(() => undefined))
    const answer = await createLoopbackFetch({ deadlineMs: 200 }).post(message(receiver.url), running)
    expect(answer).toEqual({ status: null, error: 'No answer within 0.2 s' })
  })

  it('waits for a name server until its deadline', async () => {
    const resolveHost = () => new Promise<readonly string[]>(() => undefined)
    const hanging = createLoopbackFetch({ deadlineMs: 200, resolveHost })
    expect(await hanging.post(message(receiver.url), running)).toMatchObject({
      error: 'No answer within 0.2 s',
    })
  })

  it('waits for TLS until its deadline', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : 0
    const answer = await createLoopbackFetch({ deadlineMs: 200 }).post(
      message(`https://receiver.test:${port}/`),
      running,
    )
    silent.close()
    expect(answer).toMatchObject({ error: 'No answer within 0.2 s' })
  })

  it('reads at most 64 kB of a response', async () => {
    receiver.answer(() => ({ status: 200, body: 'x'.repeat(70_000), isEndless: true }))
    // The body has no end, and the deadline is beyond the limit of a test.
    const answer = await createLoopbackFetch({ deadlineMs: 3_600_000 }).post(message(receiver.url), running)
    expect(answer).toEqual({ status: 200, error: null })
  })

  it('returns the status of a response whose body does not end in time', async () => {
    receiver.answer(() => ({ status: 200, body: 'x', isEndless: true }))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { settledResults } = vi.spyOn(Client.prototype, 'request').mock
    const answer = createLoopbackFetch({ deadlineMs: waitLimitMs }).post(message(receiver.url), running)
    await pollUntil(() => settledResults[0]?.type === 'fulfilled', 'the headers of the response')
    vi.advanceTimersByTime(waitLimitMs)
    expect(await answer).toEqual({ status: 200, error: null })
  })

  it('rejects endless headers', async () => {
    receiver.answer(() => ({ status: 200, headers: { long: 'x'.repeat(50_000) } }))
    expect(await createLoopbackFetch().post(message(receiver.url), running)).toMatchObject({
      status: null,
      error: expect.stringContaining('No answer: '),
    })
  })

  it('reports only a connection error for a host without a listener', async () => {
    await receiver.close()
    expect(await createLoopbackFetch().post(message(receiver.url), running)).toEqual({
      status: null,
      error: 'No answer: ECONNREFUSED',
    })
  })

  it('throws the abort reason', async () => {
    const stopping = new AbortController()
    receiver.answer(() => {
      stopping.abort(new Error('closing'))
      return new Promise(() => undefined)
    })
    await expect(createLoopbackFetch().post(message(receiver.url), stopping.signal)).rejects.toThrow(
      'closing',
    )
  })

  it('rejects loopback in production', async () => {
    const answer = await createGuardedFetch({ resolveHost: async () => ['127.0.0.1'] }).post(
      message('https://receiver.test/'),
      running,
    )
    expect(answer).toEqual({ status: null, error: 'The host has no public address' })
  })
})

describe('the guarded fetch of an instance that allows targets of its own network', () => {
  let server: Server
  let port: number
  let requests: string[]
  beforeEach(async () => {
    requests = []
    server = createHttpServer((request, response) => {
      requests.push(request.url ?? '')
      response.writeHead(request.url === '/redirect' ? 302 : 204, {
        location: `http://127.0.0.1:${port}/target`,
      })
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterEach(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )

  const loopback = ['127.0.0.0/8', '::1']
  const post = (url: string, allow: readonly string[], addresses: readonly string[] = []) =>
    createGuardedFetch({ allow, resolveHost: async () => addresses }).post(message(url), running)

  it.each(['127.0.0.1', 'localhost', 'app.localhost', 'hook.test'])(
    'posts over HTTP to %s on any port',
    async (host) => {
      expect(await post(`http://${host}:${port}/hook`, loopback, ['127.0.0.1'])).toEqual({
        status: 204,
        error: null,
      })
      expect(requests).toEqual(['/hook'])
    },
  )

  it('returns a redirect and does not follow it', async () => {
    expect(await post(`http://127.0.0.1:${port}/redirect`, loopback)).toEqual({ status: 302, error: null })
    expect(requests).toEqual(['/redirect'])
  })

  it.each([
    ['an allowed address and another private one', ['127.0.0.1', '10.0.0.1']],
    ['an allowed address and a public one, over HTTP', ['127.0.0.1', '93.184.216.34']],
    ['a public address, over HTTP', ['93.184.216.34']],
    ['the metadata service', ['169.254.169.254']],
    ['a v4-mapped address of another block', ['::ffff:10.0.0.1']],
    ['a NAT64 form of an allowed address', ['64:ff9b::7f00:1']],
    ['nothing', []],
  ])('never connects to a name that resolves to %s', async (_, addresses) => {
    expect(await post(`http://hook.test:${port}/hook`, loopback, addresses)).toEqual({
      status: null,
      error: 'The host has an address that webhooks may not reach',
    })
    expect(requests).toEqual([])
  })

  it('checks the address of each connection (DNS rebinding)', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const rebinding = createGuardedFetch({ allow: loopback, resolveHost: async () => answers.shift() ?? [] })
    const url = `http://hook.test:${port}/hook`
    expect(await rebinding.post(message(url), running)).toMatchObject({ status: 204 })
    expect(await rebinding.post(message(url), running)).toMatchObject({ status: null })
    expect(requests).toHaveLength(1)
  })

  it.each([
    [loopback, 'http://127.0.0.1:3000/', null],
    [loopback, 'https://127.0.0.1:3000/', null],
    [loopback, 'http://localhost:3000/', null],
    // Names are decided when they are resolved.
    [loopback, 'http://hook.test:3000/', null],
    [loopback, 'http://[::ffff:127.0.0.1]:3000/', null],
    [loopback, 'http://[::ffff:10.0.0.1]/', 'private or reserved'],
    [loopback, 'http://10.0.0.1/', 'private or reserved'],
    [loopback, 'http://93.184.216.34/', 'https://'],
    [loopback, 'http://[::ffff:93.184.216.34]/', 'private or reserved'],
    [loopback, 'https://93.184.216.34:3000/', 'port 443 or 8443'],
    [loopback, 'https://93.184.216.34/', null],
    [loopback, 'ftp://127.0.0.1/', 'https://'],
    [loopback, 'http://user:password@127.0.0.1/', 'user or password'],
    [['10.0.0.0/8'], 'http://10.1.2.3/', null],
    [['10.0.0.0/8'], 'http://localhost/', 'this machine'],
    [['169.254.0.0/16'], 'http://169.254.169.254/', 'private or reserved'],
    [['169.254.0.0/16'], 'http://169.254.1.1/', null],
    [['fc00::/7'], 'http://[fd00:ec2::254]/', 'private or reserved'],
    [['fc00::/7'], 'http://[fd00::1]/', null],
    [['100.64.0.0/10'], 'http://100.100.100.200/', 'private or reserved'],
    [[], 'http://127.0.0.1/', 'https://'],
  ])('with %j, %s has the problem %s', (allow, url, problem) => {
    const found = createGuardedFetch({ allow }).findUrlProblem(url)
    if (problem === null) expect(found).toBeNull()
    else expect(found).toContain(problem)
  })
})
