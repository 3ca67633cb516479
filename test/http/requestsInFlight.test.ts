import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { keysFactor } from '../../src/http/server/requestsInFlight.js'
import { maxRequestsPerConnection } from '../../src/http/server/sendRefusal.js'
import { pollUntil } from '../support/pollUntil.js'
import { keyOwner, type TestAppOptions, testApp, testMetrics } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { countConnections, deferred, listen, open, readAll } from './support/sockets.js'

let app: FastifyInstance | null = null

const start = async (parts: TestAppOptions = {}): Promise<number> => {
  app = testApp(parts)
  return await listen(app)
}

afterEach(async () => {
  await app?.close()
  app = null
})

const get = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')

const payment = JSON.stringify(paymentBody())

const verify = (headers: readonly string[] = []): string =>
  [
    'POST /verify HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(payment)}`,
    ...headers,
    '',
    payment,
  ].join('\r\n')

const statusesOf = (answers: string): readonly number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** Verifications that end when the test says so. */
const heldVerify = () => {
  const released = deferred<void>()
  let begun = 0
  return {
    countBegun: () => begun,
    release: () => released.resolve(),
    verifyPayment: async () => {
      begun += 1
      await released.promise
      return { isValid: true }
    },
  }
}

describe('one packet of pipelined requests', () => {
  it('has at most 8 of them in progress, and the rest is refused with one 429', async () => {
    const held = heldVerify()
    const port = await start({ core: held })
    const socket = await open(port)
    const answers = readAll(socket)
    socket.write(verify().repeat(20))
    await pollUntil(() => held.countBegun() >= maxRequestsPerConnection, 'the first requests')
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    expect(held.countBegun()).toBe(maxRequestsPerConnection)
    held.release()
    const text = await answers
    expect(statusesOf(text)).toEqual([...Array.from({ length: maxRequestsPerConnection }, () => 200), 429])
    expect(text).toContain('"code":"RATE_LIMITED"')
    expect(text).toMatch(/connection: close/i)
  })

  it('of 900 requests for the document is closed without 900 documents', async () => {
    const port = await start()
    let served = 0
    app?.server.on('request', () => {
      served += 1
    })
    const socket = await open(port)
    const answers = readAll(socket)
    socket.write(get('/api/openapi.json').repeat(900))
    expect(statusesOf(await answers).length).toBeLessThanOrEqual(maxRequestsPerConnection + 1)
    // Node reads no further in the packet.
    expect(served).toBe(maxRequestsPerConnection + 1)
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })

  it.each([
    ['without a host', 'GET /health HTTP/1.1\r\n\r\n', 400, 1],
    [
      'with an unknown expectation',
      'GET /health HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n',
      200,
      maxRequestsPerConnection + 1,
    ],
  ])(
    'of requests %s, which Node would answer itself, is bounded as well',
    async (_name, request, status, most) => {
      const port = await start()
      const socket = await open(port)
      const answers = readAll(socket)
      socket.write(request.repeat(1_000))
      const statuses = statusesOf(await answers)
      expect(statuses[0]).toBe(status)
      expect(statuses.length).toBeLessThanOrEqual(most)
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    },
  )

  it('leaves nothing counted as in progress once its connection is closed', async () => {
    const held = heldVerify()
    const metrics = testMetrics()
    const port = await start({ core: held, metrics, maxRequestsPerAddress: 10 })
    for (let round = 0; round < 3; round += 1) {
      const before = held.countBegun()
      const socket = await open(port)
      socket.write(verify().repeat(6))
      await pollUntil(() => held.countBegun() === before + 6, 'the requests of a round')
      socket.destroy()
      const isOver = async () => /^facilitator_active_requests 0$/m.test(await metrics.registry.metrics())
      await pollUntil(isOver, 'the end of the requests')
    }
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })

  it('of up to 8 requests is served', async () => {
    const port = await start()
    const socket = await open(port)
    const answers = readAll(socket)
    const requests = [
      ...Array.from({ length: 7 }, () => get('/health')),
      get('/health', ['Connection: close']),
    ]
    socket.write(requests.join(''))
    expect(statusesOf(await answers)).toEqual(Array.from({ length: 8 }, () => 200))
  })
})

describe('a client that does not read its responses', () => {
  it('is disconnected, whatever it asked for', async () => {
    const port = await start({ unreadTimeoutMs: 500 })
    const socket = await open(port)
    socket.on('error', () => undefined)
    socket.pause()
    let hungUp = false
    const isClosed = async () => {
      if (!socket.destroyed && !hungUp)
        socket.write(get('/api/openapi.json'), (error) => (hungUp = error != null))
      return app !== null && (await countConnections(app)) === 0
    }
    await pollUntil(isClosed, 'the end of the connection')
    socket.destroy()
  })
})

describe('a body that arrives in chunks after its response', () => {
  it('leaves its connection to the next request once it has ended', async () => {
    const port = await start()
    const socket = await open(port)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.write('POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
    await pollUntil(() => statusesOf(text).includes(404), 'the response')
    socket.write(`${'1\r\na\r\n'.repeat(4_000)}0\r\n\r\n${get('/health')}`)
    await pollUntil(() => statusesOf(text).includes(200), 'the response to the next request')
    socket.destroy()
  })

  it('is read in part only where it does not end, and its connection is closed', async () => {
    const port = await start()
    const accepted: Socket[] = []
    app?.server.once('connection', (each: Socket) => accepted.push(each))
    const socket = await open(port)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.write('POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
    await pollUntil(() => statusesOf(text).includes(404), 'the response')
    const chunks = '1\r\na\r\n'.repeat(1_000)
    await pollUntil(() => {
      if (!socket.destroyed) socket.write(chunks)
      return socket.destroyed
    }, 'the end of the connection')
    await pollUntil(() => accepted[0]?.destroyed, 'the end of the connection at the server')
    expect(accepted[0]?.bytesRead).toBeLessThan(500_000)
  })
})

describe('requests of one address', () => {
  it('are capped over all its connections, and a finished one makes room', async () => {
    const held = heldVerify()
    const port = await start({ core: held, maxRequestsPerAddress: 3 })
    const first = await open(port)
    first.write(verify().repeat(2))
    const second = await open(port)
    second.write(verify())
    await pollUntil(() => held.countBegun() === 3, 'the requests in progress')
    const refused = await fetch(`http://127.0.0.1:${port}/supported`)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', operationalCode: 'SVC-2005' })
    first.destroy()
    const isServed = async () => (await fetch(`http://127.0.0.1:${port}/supported`)).status === 200
    await pollUntil(isServed, 'room for one more')
    second.destroy()
  })

  /** Keys that begin alike are one customer's. */
  const anyKey: TestAppOptions['dashboard'] = {
    authenticate: async ({ apiKey }) => ({ ...keyOwner, customer: apiKey.replace(/-.*/, '') }),
  }
  const keyOf = (name: string) => `qtn_sk_${name}`
  const ask = async (port: number, path: string, key?: string) =>
    (
      await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: key === undefined ? {} : { 'x-api-key': keyOf(key) },
      })
    ).status

  it('without a key never shut out keys behind the same NAT, nor probes', async () => {
    const held = heldVerify()
    const port = await start({ core: held, dashboard: anyKey, maxRequestsPerAddress: 3 })
    expect(await ask(port, '/supported', 'known')).toBe(200)
    const hostile = await open(port)
    hostile.write(verify().repeat(3))
    await pollUntil(() => held.countBegun() === 3, 'the requests in progress')
    expect(await ask(port, '/supported')).toBe(429)
    expect(await ask(port, '/supported', 'known')).toBe(200)
    // Malformed, so that it counts as none.
    expect(await ask(port, '/supported', 'with spaces in it')).toBe(429)
    expect(await ask(port, '/supported', 'new')).toBe(200)
    for (const probe of ['/health', '/ready', '/metrics']) expect(await ask(port, probe)).toBe(200)
    expect(await ask(port, '/health?x=1')).not.toBe(429)
    hostile.destroy()
  })

  it('with a key are capped by its customer, and by all keys of the address', async () => {
    const held = heldVerify()
    const port = await start({ core: held, dashboard: anyKey, maxRequestsPerAddress: 2 })
    const sockets: Socket[] = []
    const hold = async (key: string) => {
      expect(await ask(port, '/supported', key)).toBe(200)
      const before = held.countBegun()
      const socket = await open(port)
      sockets.push(socket)
      socket.write(verify([`X-API-Key: ${keyOf(key)}`]).repeat(2))
      await pollUntil(() => held.countBegun() === before + 2, 'the requests of a key')
    }
    expect(await ask(port, '/supported', 'late')).toBe(200)
    expect(await ask(port, '/supported', 'first-2')).toBe(200)
    await hold('first')
    expect(await ask(port, '/supported', 'first')).toBe(429)
    expect(await ask(port, '/supported', 'first-2')).toBe(429)
    expect(await ask(port, '/supported', 'late')).toBe(200)
    for (let count = 1; count < keysFactor; count += 1) await hold(`other${count}`)
    expect(await ask(port, '/supported', 'late')).toBe(429)
    expect(await ask(port, '/supported')).toBe(200)
    for (const socket of sockets) socket.destroy()
  })

  it('are counted by the client behind a trusted proxy, whose connections stay open', async () => {
    const held = heldVerify()
    const port = await start({ core: held, maxRequestsPerAddress: 2, trustProxy: ['127.0.0.1'] })
    const hostile = await open(port)
    hostile.write(verify(['X-Forwarded-For: 203.0.113.9']).repeat(2))
    await pollUntil(() => held.countBegun() === 2, 'the requests in progress')
    const ask = async (client: string) =>
      await fetch(`http://127.0.0.1:${port}/supported`, { headers: { 'x-forwarded-for': client } })
    const refused = await ask('198.51.100.1, 203.0.113.9')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('connection')).not.toBe('close')
    expect((await ask('198.51.100.1')).status).toBe(200)
    hostile.destroy()
  })

  it('are counted by /64 network, and by the /48 around it', async () => {
    const held = heldVerify()
    const port = await start({ core: held, maxRequestsPerAddress: 2, trustProxy: ['127.0.0.1'] })
    const hostile = await open(port)
    const from = (client: string) => verify([`X-Forwarded-For: ${client}`])
    hostile.write(['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '2001:db8:0:2::1'].map(from).join(''))
    await pollUntil(() => held.countBegun() === 4, 'the requests in progress')
    const ask = async (client: string) =>
      (await fetch(`http://127.0.0.1:${port}/supported`, { headers: { 'x-forwarded-for': client } })).status
    expect(await ask('2001:db8::3')).toBe(429)
    expect(await ask('2001:db8:0:3::1')).toBe(429)
    expect(await ask('2001:db8:1::1')).toBe(200)
    hostile.destroy()
  })
})

describe('the document of the API', () => {
  const paths = ['/api/openapi.json', '/api/openapi.yaml', '/docs/json', '/docs/yaml']

  it.each(paths)('%s is sent from one buffer, and not written by the service', async (url) => {
    const own = testApp()
    await own.ready()
    Object.assign(own, { swagger: () => expect.fail('The service writes the document') })
    const [first, second] = [await own.inject(url), await own.inject(url)]
    expect(second.body).toBe(first.body)
    expect(first.body.length).toBeGreaterThan(100_000)
    expect(second.headers.etag).toMatch(/^"[\w-]{43}"$/)
  })

  it.each(paths)('%s is not sent again to a client that has it', async (url) => {
    const own = testApp()
    const { headers } = await own.inject(url)
    const etag = String(headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await own.inject({ url, headers: { 'if-none-match': known } })
      expect(response.statusCode).toBe(304)
      expect(response.body).toBe('')
      expect(response.headers.etag).toBe(etag)
    }
    expect((await own.inject({ url, headers: { 'if-none-match': '"other"' } })).statusCode).toBe(200)
    const head = await own.inject({ method: 'HEAD', url })
    expect(head.headers.etag).toBe(etag)
    expect(head.headers['content-length']).toBe(headers['content-length'])
    expect(head.body).toBe('')
  })
})

describe('the client address before Fastify', () => {
  it.each([
    [[], '203.0.113.9'],
    [['127.0.0.1'], '203.0.113.9'],
    [['127.0.0.1'], '198.51.100.1, 203.0.113.9'],
    [['127.0.0.1', '203.0.113.0/24'], '198.51.100.1, 203.0.113.9'],
    [['127.0.0.1', '203.0.113.0/24'], '203.0.113.9'],
    [['127.0.0.1'], '198.51.100.1,,  ,'],
    [['127.0.0.1'], ''],
    [['127.0.0.1'], 'garbage'],
    [['127.0.0.1'], '198.51.100.1, garbage'],
    [['127.0.0.1', '2001:db8::/32'], '198.51.100.1, 2001:db8::1'],
    [['127.0.0.1'], '::ffff:203.0.113.9'],
    [['127.0.0.1'], '198.51.100.1:80, 203.0.113.9:5678'],
    [['127.0.0.1', '203.0.113.0/24'], '198.51.100.1:80, 203.0.113.9:5678'],
    [['127.0.0.1'], '[2001:db8::1]:443'],
    [['127.0.0.1'], 'garbage:80'],
    [[], '198.51.100.1:80'],
  ])('is what Fastify finds, with the proxies %j and the header %j', async (trustProxy, forwarded) => {
    const { createClientAddresses } = await import('../../src/http/server/readRequest.js')
    const addresses = createClientAddresses(trustProxy)
    const found: (string | undefined)[] = []
    app = testApp({ trustProxy })
    app.addHook('onRequest', async (request) => {
      found.push(request.ip, addresses.read(request.raw))
      throw new AppError('FORBIDDEN', 'Enough is known')
    })
    const port = await listen(app)
    const socket = await open(port)
    const answer = readAll(socket)
    socket.write(get('/supported', ['Connection: close', `X-Forwarded-For: ${forwarded}`]))
    await answer
    expect(found[0]).toBeDefined()
    expect(found[1]).toBe(found[0])
  })

  it.each([
    ['198.51.100.1, 203.0.113.9:5678', '203.0.113.9'],
    ['203.0.113.9:5678, 127.0.0.1:80', '203.0.113.9'],
    ['198.51.100.1:1,\t203.0.113.9:65535 ', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '::ffff:203.0.113.9'],
    ['203.0.113.999:80', '203.0.113.999:80'],
  ])('of the header %j is %s: ports are no part of it', async (forwarded, client) => {
    app = testApp({ trustProxy: ['127.0.0.1'] })
    const found: string[] = []
    app.addHook('onRequest', async ({ ip }) => {
      found.push(ip)
    })
    const port = await listen(app)
    await fetch(`http://127.0.0.1:${port}/supported`, { headers: { 'x-forwarded-for': forwarded } })
    expect(found).toEqual([client])
  })
})
