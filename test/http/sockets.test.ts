import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { stalls } from '../../src/platform/clock.js'
import type { SettleResponse } from '../../src/usecases/core/useCases.js'
import { pollUntil } from '../support/pollUntil.js'
import { type TestAppOptions, testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { deferred, listen, open, readAll } from './support/sockets.js'

let app: FastifyInstance | null = null
let connections: Socket[] = []

const start = async (parts: TestAppOptions = {}): Promise<number> => {
  app = testApp(parts)
  connections = []
  app.server.on('connection', (socket: Socket) => connections.push(socket))
  return await listen(app)
}

afterEach(async () => {
  vi.restoreAllMocks()
  await app?.close()
  app = null
})

const request = (path: string, body: string, length = Buffer.byteLength(body)): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n')

const payment = JSON.stringify(paymentBody())

/** Writes part of a request, and waits until the service has read it and has served another request since. */
const writeAndWait = async (port: number, socket: Socket, part: string): Promise<void> => {
  const accepted = () => connections.find(({ remotePort }) => remotePort === socket.localPort)
  socket.write(part)
  await pollUntil(() => accepted()?.bytesRead === socket.bytesWritten, 'the service to read the part')
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
}

/** A settlement that says when it has begun, and ends when it is told to. */
const holdSettle = () => {
  const begun = deferred<void>()
  const goOn = deferred<void>()
  const settlePayment = async (): Promise<SettleResponse> => {
    begun.resolve()
    await goOn.promise
    return { result: { success: true, transaction: '0xab', network: 'n' }, isReplayed: false }
  }
  return { begun, goOn, core: { settlePayment } }
}

describe('a client that disconnects', () => {
  it('cancels its verify', async () => {
    const begun = deferred<() => boolean>()
    const port = await start({
      core: {
        verifyPayment: async ({ isAwaited }) => {
          begun.resolve(isAwaited)
          return await new Promise(() => undefined)
        },
      },
    })
    const socket = await open(port)
    socket.write(request('/verify', payment))
    const isAwaited = await begun.promise
    expect(isAwaited()).toBe(true)
    socket.destroy()
    await pollUntil(() => !isAwaited(), 'the end of the connection')
  })

  it('does not cancel its settle', async () => {
    const begun = deferred<void>()
    const goOn = deferred<void>()
    const settled = deferred<string>()
    const port = await start({
      core: {
        settlePayment: async (): Promise<SettleResponse> => {
          begun.resolve()
          await goOn.promise
          settled.resolve('settled')
          return { result: { success: true, transaction: '0xab', network: 'n' }, isReplayed: false }
        },
      },
    })
    const socket = await open(port)
    socket.write(request('/settle', payment))
    await begun.promise
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.destroy()
    await closed
    goOn.resolve()
    expect(await settled.promise).toBe('settled')
  })

  it('while sending its body does not affect the service', async () => {
    const port = await start()
    const socket = await open(port)
    socket.write(request('/verify', '{"paymentPayload":', 5_000))
    socket.destroy()
    const response = await fetch(`http://127.0.0.1:${port}/health`)
    expect(response.status).toBe(200)
  })
})

describe('a client that waits', () => {
  it('is not treated as disconnected after its body was read', async () => {
    const port = await start({
      core: {
        verifyPayment: async ({ isAwaited }) => {
          // Node closes the stream of a body at its end; another request is served after that.
          await fetch(`http://127.0.0.1:${port}/health`)
          return { isValid: isAwaited() }
        },
      },
    })
    const response = await fetch(`http://127.0.0.1:${port}/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: payment,
    })
    expect(await response.json()).toEqual({ isValid: true })
  })
})

describe('an incomplete request', () => {
  // A busy machine can stop this process for long enough to be a stall.
  beforeEach(() => {
    vi.spyOn(stalls, 'hasStalled').mockReturnValue(false)
  })

  it('receives a response and is closed if its body is too slow', async () => {
    const port = await start({ requestTimeoutMs: 300 })
    const socket = await open(port)
    socket.write(request('/verify', '{"paymentPayload":', 5_000))
    const answer = await readAll(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('{"code":"REQUEST_TIMEOUT","message":"The request did not arrive in time"}')
    expect(answer).toMatch(/x-request-id: \S+/i)
  })

  it('receives a response and is closed if its headers are too slow', async () => {
    const port = await start({ requestTimeoutMs: 300 })
    const socket = await open(port)
    socket.write('POST /verify HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
    expect(await readAll(socket)).toContain('"code":"REQUEST_TIMEOUT"')
  })
})

describe('bytes that are not valid HTTP', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['a TLS greeting', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000', 400, 'INVALID_REQUEST'],
    [
      'two lengths',
      'POST /verify HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'INVALID_REQUEST',
    ],
    [
      'a length beside chunks',
      'POST /verify HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'INVALID_REQUEST',
    ],
    ['no host', 'GET /health HTTP/1.1\r\n\r\n', 400, 'INVALID_REQUEST'],
    [
      'headers without end',
      `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
      413,
      'REQUEST_TOO_LARGE',
    ],
    [
      'a URL without end',
      `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      413,
      'REQUEST_TOO_LARGE',
    ],
  ])('such as %s receive { code, message }', async (_name, bytes, status, code) => {
    const port = await start()
    const socket = await open(port)
    socket.write(Buffer.from(bytes, 'latin1'))
    const answer = await readAll(socket)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    expect(answer).toContain(`{"code":"${code}","message":"`)
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })
})

describe('a body of 2 MB', () => {
  const twoMegabytes = JSON.stringify({ filler: 'x'.repeat(2 * 1_048_576) })

  it('receives a readable 413', async () => {
    const port = await start()
    for (let round = 0; round < 5; round += 1) {
      const response = await fetch(`http://127.0.0.1:${port}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: twoMegabytes,
      })
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({ code: 'REQUEST_TOO_LARGE' })
    }
  })

  it('in chunked encoding also receives 413', async () => {
    const port = await start()
    const stream = new ReadableStream({
      start: (controller) => {
        const bytes = Buffer.from(twoMegabytes)
        for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.subarray(at, at + 65_536))
        controller.close()
      },
    })
    const response = await fetch(`http://127.0.0.1:${port}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    })
    expect(response.status).toBe(413)
  })
})

describe('a server that closes', () => {
  it('does not wait for a connection without a request, but for one with an incomplete request', async () => {
    const port = await start()
    const [silent, slow] = [await open(port), await open(port)]
    const [hungUp, refusal] = [readAll(silent), readAll(slow)]
    await writeAndWait(port, slow, 'GET /health HTTP/1.1\r\nHost: localhost\r\n')
    const closing = app?.close()
    expect(await hungUp).toBe('')
    slow.write('\r\n')
    expect(await refusal).toMatch(/^HTTP\/1\.1 503 /)
    await closing
  })

  it('does not wait for the end of an incomplete request', async () => {
    // Nothing else ends it within the limit of a test.
    const port = await start({ requestTimeoutMs: 3_600_000 })
    app?.server.setTimeout(0)
    const slow = await open(port)
    const hungUp = readAll(slow)
    await writeAndWait(port, slow, request('/verify', '{"paymentPayload":', 5_000))
    await app?.close()
    expect(await hungUp).toBe('')
  })

  it('completes requests in progress and rejects new ones', async () => {
    const { begun, goOn, core } = holdSettle()
    const port = await start({ core })
    const [settling, late] = [await open(port), await open(port)]
    const [answer, refusal] = [readAll(settling), readAll(late)]
    settling.write(request('/settle', payment))
    // A connection with an incomplete request is not idle, so it survives the start of the shutdown.
    await writeAndWait(port, late, 'GET /health HTTP/1.1\r\nHost: localhost\r\n')
    await begun.promise
    const closing = app?.close()
    await pollUntil(() => app?.server.listening === false, 'the shutdown to begin')
    late.write('\r\n')
    const refused = await refusal
    goOn.resolve()
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    expect(refused).toMatch(/retry-after: 1/i)
    expect(refused).toContain('"code":"SERVICE_UNAVAILABLE"')
    const answered = await answer
    expect(answered).toContain('"success":true')
    expect(answered).toMatch(/connection: close/i)
    await closing
  })
})

describe('an announced shutdown', () => {
  const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'

  it('answers /ready with 503, and everything else as before, until it is skipped', async () => {
    const port = await start()
    const skipped = new AbortController()
    const announced = app?.shutdown.announce(3_600_000, skipped.signal)
    const ready = await fetch(`http://127.0.0.1:${port}/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toEqual({ status: 'stopping', checks: {} })
    const other = await fetch(`http://127.0.0.1:${port}/health`)
    expect({ status: other.status, connection: other.headers.get('connection') }).toEqual({
      status: 200,
      connection: 'keep-alive',
    })
    skipped.abort()
    await announced
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })

  it('then ends connections with their next answer, also that of a request in progress', async () => {
    const { begun, goOn, core } = holdSettle()
    const port = await start({ core })
    const [settling, idle] = [await open(port), await open(port)]
    const [answer, last] = [readAll(settling), readAll(idle)]
    settling.write(request('/settle', payment))
    await begun.promise
    await writeAndWait(port, idle, health)
    const announced = app?.shutdown.announce(0, new AbortController().signal)
    await pollUntil(
      async () => (await fetch(`http://127.0.0.1:${port}/health`)).headers.get('connection') === 'close',
      'connections to be ended',
    )
    idle.write(health)
    goOn.resolve()
    expect((await last).match(/HTTP\/1\.1 200 |connection: [\w-]+/gi)).toEqual([
      'HTTP/1.1 200 ',
      'Connection: keep-alive',
      'HTTP/1.1 200 ',
      'Connection: close',
    ])
    expect((await answer).match(/HTTP\/1\.1 200 |connection: [\w-]+/gi)).toEqual([
      'HTTP/1.1 200 ',
      'Connection: close',
    ])
    await announced
    // New connections are still accepted.
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })
})

describe('a stall of this process', () => {
  // Beyond the limit of a test: only the stall lets it pass.
  const deadlineMs = 600_000
  const receiving = { deadlineMs, maxBufferedBytes: 1_048_576 }
  const sweepMs = deadlineMs / 20

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => void vi.useRealTimers())

  /** The deadline passes while nothing is read; then the service looks for overdue bodies, that many times. */
  const stall = (sweeps: number): void => {
    vi.spyOn(stalls, 'hasStalled').mockReturnValue(true)
    const stalledUntil = performance.now() + 2 * deadlineMs
    const now = vi.spyOn(performance, 'now').mockImplementation(() => stalledUntil)
    for (let sweep = 0; sweep < sweeps; sweep += 1) vi.advanceTimersByTime(sweepMs)
    now.mockRestore()
  }

  it('is not held against a body that arrived meanwhile', async () => {
    const port = await start({ receiving })
    const socket = await open(port)
    const answer = readAll(socket)
    const text = request('/verify', payment)
    await writeAndWait(port, socket, text.slice(0, -20))
    socket.write(text.slice(-20))
    stall(1)
    await pollUntil(() => socket.bytesRead > 0, 'the response')
    socket.end()
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('that cuts a body off is 503 with Retry-After, never 4xx (A59)', async () => {
    const port = await start({ receiving })
    const socket = await open(port)
    const answer = readAll(socket)
    await writeAndWait(port, socket, request('/verify', payment).slice(0, -20))
    stall(2)
    await pollUntil(() => socket.bytesRead > 0, 'the response')
    socket.end()
    const text = await answer
    expect(text).toMatch(/^HTTP\/1\.1 503 /)
    expect(text.toLowerCase()).toContain('retry-after: 1')
  })

  it('that cuts headers off is 503 with Retry-After, never 4xx (A59)', async () => {
    vi.spyOn(stalls, 'hasStalled').mockReturnValue(true)
    // Node itself ends the request, whether its headers have arrived in part or not at all.
    const port = await start({ requestTimeoutMs: 300 })
    const socket = await open(port)
    const answer = readAll(socket)
    socket.write('POST /settle HTTP/1.1\r\nHost: localhost\r\nContent-')
    const text = await answer
    expect(text).toMatch(/^HTTP\/1\.1 503 /)
    expect(text.toLowerCase()).toContain('retry-after: 1')
  })
})

describe('open connections', () => {
  const connectMany = async (port: number, count: number) => {
    const sockets: Socket[] = []
    for (let index = 0; index < count; index += 1) {
      const socket = await open(port)
      socket.on('error', () => undefined)
      // A paused socket does not notice its end.
      sockets.push(socket.resume())
    }
    return { sockets, countClosed: () => sockets.filter(({ destroyed }) => destroyed).length }
  }
  const end = (sockets: readonly Socket[]) => {
    for (const socket of sockets) socket.destroy()
  }

  it('are capped per address; a closed one makes room (A60)', async () => {
    const port = await start({ maxConnectionsPerAddress: 5 })
    const { sockets, countClosed } = await connectMany(port, 12)
    await pollUntil(() => countClosed() === 7, 'the refused connections')
    end(sockets)
    await pollUntil(() => countClosed() === 12, 'the end of all connections')
    const isServed = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    await pollUntil(isServed, 'room for one more')
  })

  it('of listed proxies are capped in total only (A60)', async () => {
    const port = await start({
      maxConnectionsPerAddress: 2,
      maxConnections: 6,
      trustProxy: ['127.0.0.1'],
    })
    const { sockets, countClosed } = await connectMany(port, 9)
    await pollUntil(() => countClosed() === 3, 'the refused connections')
    end(sockets)
  })
})
