import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { maxJsonValues } from '../../src/http/json.js'
import { stalls, systemClock } from '../../src/platform/clock.js'
import { createSchemeRegistry } from '../../src/schemes/registry.js'
import { createConcurrencyLimits } from '../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../src/usecases/core/settle/settleAuthorization.js'
import { createSettlePayment } from '../../src/usecases/core/settle/settlePayment.js'
import { createMemoryJournal } from '../support/memoryJournal.js'
import { createMemoryLogger } from '../support/memoryLogger.js'
import { noSpendingLimits } from '../support/noSpendingLimits.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'
import { createToyScheme, toyBody } from '../support/toyScheme.js'
import { knownKey, type TestAppOptions, testApp } from './support/app.js'
import { paymentBody, paymentBodyWith } from './support/payment.js'
import { listen, open, readAll } from './support/sockets.js'

const paymentBytes = 65_536
const settleBytes = 131_072
const accountBytes = 8_192
const declarationBytes = 131_072
const signInBytes = 32_768

let app: FastifyInstance | null = null

let connections: Socket[] = []

const start = async (parts: TestAppOptions = {}): Promise<number> => {
  app = testApp(parts)
  connections = []
  app.server.on('connection', (socket: Socket) => connections.push(socket))
  return await listen(app)
}

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await app?.close()
  app = null
})

const headOf = (path: string, length: number | 'chunked'): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    'Connection: close',
    `X-API-Key: ${knownKey}`,
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n')

const inChunks = (body: Buffer, size: number): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

const readAnswer = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body }
}

/** Sends the head and the given part of the body; resolves once the connection is closed. */
const send = async (port: number, head: string, body: Buffer | string = '') => {
  const socket = await open(port)
  const answer = readAll(socket)
  socket.write(head)
  socket.write(body)
  return readAnswer(await answer)
}

const post = (port: number, path: string, body: Buffer | string) =>
  send(port, headOf(path, Buffer.byteLength(body)), body)

/** A payment with `extra` as raw JSON. */
const withExtra = (extra: string): string =>
  JSON.stringify(paymentBodyWith({ extra: '…' })).replace('"…"', () => extra)

const keys = (count: number, length: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"${at.toString(36).padStart(length, '_')}":1`).join()}}`

const paymentOf = (bytes: number): string =>
  withExtra(`{"filler":"${'x'.repeat(bytes - withExtra('{"filler":""}').length)}"}`)

const collectGarbage: () => void = (() => {
  setFlagsFromString('--expose-gc')
  return z.function({ input: [], output: z.void() }).implement(runInNewContext('gc'))
})()

const measureBuffers = (): number => {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** The buffers of this process once those of earlier connections are freed. */
const measureSettledBuffers = async (): Promise<number> => {
  let before = measureBuffers()
  let equal = 0
  await pollUntil(() => {
    const now = measureBuffers()
    equal = now === before ? equal + 1 : 0
    before = now
    return equal === 3
  }, 'the buffers of earlier tests to be freed')
  return before
}

describe('a body', () => {
  it('of 110,000 keys receives 413 before it is read', async () => {
    const port = await start()
    const body = withExtra(keys(110_000, 4))
    expect(body.length).toBeGreaterThan(950_000)
    expect(body.length).toBeLessThan(1_048_576)
    // Its end is never sent.
    const { status, body: answer } = await send(port, headOf('/settle', body.length), body.slice(0, -1))
    expect(status).toBe(413)
    expect(answer).toBe('{"code":"REQUEST_TOO_LARGE","message":"The body is larger than 131072 bytes"}')
  })

  it.each([
    ['/verify', paymentBytes],
    ['/settle', settleBytes],
    ['/register', accountBytes],
    ['/lookup', accountBytes],
    ['/dashboard/restrictions', accountBytes],
    ['/dashboard/webhook', accountBytes],
  ])('of %s is rejected by its Content-Length, before a byte arrived', async (path, limit) => {
    const port = await start()
    const { status, head, body } = await send(port, headOf(path, limit + 1))
    expect(status).toBe(413)
    expect(body).toBe(`{"code":"REQUEST_TOO_LARGE","message":"The body is larger than ${limit} bytes"}`)
    expect(head).toMatch(/connection: close/i)
  })

  it('has its limit on every route that accepts one', async () => {
    const port = await start()
    // Requests of others than operators are refused before their body is read.
    const isForAll = (path: string) => !path.startsWith('/v1/operator/')
    const routes = app?.listRoutes().filter(({ method, path }) => method === 'POST' && isForAll(path)) ?? []
    expect(routes.length).toBeGreaterThan(8)
    const limits: Readonly<Record<string, number>> = {
      '/verify': paymentBytes,
      '/v1/explain': paymentBytes,
      '/settle': settleBytes,
      '/accepts': paymentBytes,
      '/v1/intent/{id}/execute': paymentBytes,
      '/v1/siwx/verify': signInBytes,
      '/v1/stream/open': paymentBytes,
      '/v1/stream/update': signInBytes,
      '/v1/stream/close': signInBytes,
      '/discovery/validate': declarationBytes,
      '/v1/discovery/validate': declarationBytes,
    }
    for (const { path } of routes) {
      const limit = limits[path] ?? accountBytes
      const address = path.replace('{id}', '9401b76e-f466-496f-8524-886a61ebf067')
      const filled = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`
      expect((await post(port, address, filled(limit + 1))).status, path).toBe(413)
      expect((await post(port, address, filled(limit))).status, path).not.toBe(413)
      const chunks = inChunks(Buffer.from(filled(limit + 1)), 4_000)
      expect((await send(port, headOf(address, 'chunked'), chunks)).status, path).toBe(413)
    }
  })

  it('of a payment can be as large as configured, and no larger', async () => {
    const maxPaymentBodyBytes = 1_048_576
    const port = await start({ maxPaymentBodyBytes })
    for (const path of ['/verify', '/settle']) {
      expect((await post(port, path, paymentOf(maxPaymentBodyBytes))).status).toBe(200)
      expect((await post(port, path, paymentOf(maxPaymentBodyBytes + 1))).status).toBe(413)
    }
    expect((await post(port, '/register', paymentOf(accountBytes + 1))).status).toBe(413)
  })

  it('of a payment is limited to a smaller configured size', async () => {
    const port = await start({ maxPaymentBodyBytes: 8_192 })
    expect((await post(port, '/settle', paymentOf(8_192))).status).toBe(200)
    expect((await post(port, '/settle', paymentOf(8_193))).status).toBe(413)
  })

  it.each([
    ['an EIP-6492 signature of 16 kB', { signature: `0x${'ab'.repeat(16_384)}` }],
    ['a Solana transaction of the largest size', { transaction: Buffer.alloc(1_232).toString('base64') }],
    ['a TON message with its StateInit', { signedBoc: Buffer.alloc(4_096).toString('base64') }],
  ])('with %s is accepted, with a long resource description', async (_name, proof) => {
    const verifyPayment = vi.fn(async () => ({ isValid: true }))
    const port = await start({ core: { verifyPayment } })
    const schema = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`field${at}`, { type: 'string', description: 'What it is' }]),
    )
    const body = {
      ...paymentBodyWith({ description: 'x'.repeat(8_000), outputSchema: { properties: schema } }),
      paymentPayload: { ...paymentBody().paymentPayload, payload: proof },
    }
    expect((await post(port, '/verify', JSON.stringify(body))).status).toBe(200)
    expect(verifyPayment).toHaveBeenCalledWith(expect.objectContaining({ body }))
  })
})

describe('a chunked body', () => {
  it.each([1, 2, 7, 500, 1_460])('in chunks of %i bytes is read unchanged', async (size) => {
    const verifyPayment = vi.fn(async () => ({ isValid: true }))
    const port = await start({ core: { verifyPayment } })
    // At most 1,500 chunks; multi-byte characters are split.
    const body = paymentBodyWith({ extra: { name: 'é😀漢'.repeat(size < 100 ? 20 : 2_000) } })
    const chunks = inChunks(Buffer.from(JSON.stringify(body)), size)
    expect((await send(port, headOf('/verify', 'chunked'), chunks)).status).toBe(200)
    expect(verifyPayment).toHaveBeenCalledWith(expect.objectContaining({ body }))
  })

  it('in chunks of one byte is not read completely: its connection is closed', async () => {
    const port = await start()
    const chunks = inChunks(Buffer.from(paymentOf(paymentBytes)), 1)
    expect((await send(port, headOf('/settle', 'chunked'), chunks)).status).toBeNaN()
    expect((await post(port, '/settle', paymentOf(paymentBytes))).status).toBe(200)
  })
})

/** /settle with a toy chain and in-memory stores: measures our own code only. */
const startSettling = (): Promise<number> => {
  const logger = createMemoryLogger()
  const settlePayment = createSettlePayment({
    idempotency: {
      begin: async () => ({ state: 'started' }),
      isMismatch: async () => false,
      answer: async () => {},
      fail: async () => {},
      release: async () => {},
      forget: async () => {},
      purge: async () => {},
    },
    settleAuthorization: createSettleAuthorization({
      holdFunds: async (_payment, verdict) => verdict,
      registry: createSchemeRegistry([createToyScheme()]),
      journal: createMemoryJournal(),
      limits: noSpendingLimits,
      concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
      clock: systemClock,
      logger,
      waitMs: waitLimitMs,
    }),
    logger,
  })
  return start({ core: { settlePayment } })
}

/** A settlement that carries `extra`. */
const toyPayment = (extra: string): string => {
  const { paymentPayload, paymentRequirements } = toyBody()
  const requirements = { ...paymentRequirements, mimeType: 'text/html', extra: '…' }
  return JSON.stringify({ paymentPayload, paymentRequirements: requirements }).replace('"…"', () => extra)
}

const mostKeys = maxJsonValues - 30
const worstAccepted = toyPayment(keys(mostKeys, 26))
const tooLarge = toyPayment(keys(110_000, 4))
const asManyKeysAsFit = toyPayment(keys(8_000, 3))
const parallel = 20

const settleAtOnce = (port: number, body: string) =>
  Promise.all(Array.from({ length: parallel }, () => post(port, '/settle', body)))

describe('twenty large bodies at once', () => {
  it('with the maximum number of keys are each parsed once', async () => {
    const port = await startSettling()
    expect(worstAccepted.length).toBeGreaterThan(60_000)
    expect(worstAccepted.length).toBeLessThanOrEqual(paymentBytes)
    const parse = vi.spyOn(JSON, 'parse')
    for (const { status, body } of await settleAtOnce(port, worstAccepted)) {
      expect({ status, body }).toMatchObject({ status: 200, body: expect.stringContaining('"success"') })
    }
    expect(parse.mock.calls.filter(([text]) => text.length > 10_000)).toHaveLength(parallel)
  })

  it('with too many keys are rejected before they are parsed', async () => {
    const port = await startSettling()
    expect(asManyKeysAsFit.length).toBeGreaterThan(60_000)
    expect(asManyKeysAsFit.length).toBeLessThanOrEqual(paymentBytes)
    const parse = vi.spyOn(JSON, 'parse')
    for (const { status, body } of await settleAtOnce(port, asManyKeysAsFit)) {
      expect(status).toBe(400)
      expect(body).toContain('The body has more than 2000 keys and array elements')
    }
    expect(parse).not.toHaveBeenCalledWith(asManyKeysAsFit)
  })

  it('in chunks of one byte are read in part only', async () => {
    const port = await startSettling()
    const pieces = inChunks(Buffer.from(paymentOf(paymentBytes)), 1)
    const attack = () => send(port, headOf('/settle', 'chunked'), pieces)
    await Promise.all(Array.from({ length: parallel }, attack))
    expect(connections).toHaveLength(parallel)
    // 4,096 chunks are 25 kB; what arrived with them is in one more read of 64 kB.
    for (const { bytesRead } of connections) expect(bytesRead).toBeLessThan(pieces.length / 2)
  })

  it.each([
    ['with as many keys as are allowed', worstAccepted],
    ['with as many keys as fit', asManyKeysAsFit],
    ['of 110,000 keys', tooLarge],
  ])('%s do not keep /health from being served, for as long as they go on', async (_name, body) => {
    const port = await startSettling()
    let isOver = false
    const attack = async () => {
      while (!isOver) await post(port, '/settle', body)
    }
    const attacks = Array.from({ length: parallel }, attack)
    try {
      for (let served = 0; served < 4; served += 1) {
        const { status } = await send(port, 'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        expect(status).toBe(200)
      }
    } finally {
      isOver = true
      await Promise.all(attacks)
    }
  })
})

describe('an incomplete body', () => {
  // A busy machine can stop this process for long enough to be a stall.
  beforeEach(() => {
    vi.spyOn(stalls, 'hasStalled').mockReturnValue(false)
  })

  it('one byte short receives 408, and its buffer is freed', async () => {
    const port = await start()
    const held = 40
    const body = paymentOf(paymentBytes)
    const sent = headOf('/settle', body.length) + body.slice(0, -1)
    const before = measureBuffers()
    // The deadline passes when this test says so.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const answers = Array.from({ length: held }, () => send(port, sent))
    const arrived = () => connections.filter(({ bytesRead }) => bytesRead === sent.length).length
    await pollUntil(() => arrived() === held, 'the bodies to be held', arrived)
    // What the sockets read is freed after it was copied.
    const measureFew = () => {
      const now = measureBuffers()
      return now - before < held * 70_000 && now
    }
    const whileHeld = await pollUntil(measureFew, 'no more memory than the bodies take', measureBuffers)
    vi.advanceTimersByTime(6_000)
    for (const { status, head, body: text } of await Promise.all(answers)) {
      expect(status).toBe(408)
      expect(head).toMatch(/connection: close/i)
      // Node's own timeout of 15 s says "The request did not arrive in time".
      expect(text).toBe('{"code":"REQUEST_TIMEOUT","message":"The body did not arrive in time"}')
    }
    // What earlier tests free meanwhile can only add to it.
    await pollUntil(() => whileHeld - measureBuffers() > held * 60_000, 'the memory of the bodies')
  })

  it('receives 408 even if bytes keep arriving', async () => {
    const port = await start({ receiving: { deadlineMs: 300, maxBufferedBytes: 1_000_000 } })
    const socket = await open(port)
    const answer = readAll(socket)
    socket.write(headOf('/verify', 5_000))
    const drip = setInterval(() => socket.write(' '), 10)
    socket.once('close', () => clearInterval(drip))
    expect(readAnswer(await answer).status).toBe(408)
  })

  it('takes memory for its received bytes only, whatever its Content-Length', async () => {
    const port = await start()
    const before = await measureSettledBuffers()
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port)))
    const sent = `${headOf('/settle', paymentBytes)}{`
    for (const socket of sockets) socket.write(sent)
    const ports = new Set(sockets.map(({ localPort }) => localPort))
    const begun = () =>
      connections.filter((each) => ports.has(each.remotePort) && each.bytesRead === sent.length).length
    await pollUntil(() => begun() === sockets.length, 'the bodies to begin', begun)
    expect(measureBuffers() - before).toBeLessThan(100 * 5_000)
    for (const socket of sockets) socket.destroy()
    await pollUntil(() => measureBuffers() - before < 100_000, 'the memory of the bodies')
  })

  const heldBytes = 50_000
  const fewBytes = { deadlineMs: waitLimitMs, maxBufferedBytes: 2 * paymentBytes }

  /** Sends a 50 kB body, which takes a 64 kB buffer, without its last byte. */
  const hold = async (port: number) => {
    const body = paymentOf(heldBytes)
    const socket = await open(port)
    const answer = readAll(socket).then(readAnswer)
    const sent = headOf('/settle', body.length) + body.slice(0, -1)
    socket.write(sent)
    const connection = () => connections.find(({ remotePort }) => remotePort === socket.localPort)
    await pollUntil(() => connection()?.bytesRead === sent.length, 'the body to be held')
    return { answer, finish: () => socket.write('}'), hangUp: () => socket.destroy() }
  }

  it('makes room for newer ones when the total is exceeded: it receives 503', async () => {
    const port = await start({ receiving: fewBytes })
    const oldest = await hold(port)
    const newer = await hold(port)
    expect((await post(port, '/settle', paymentOf(heldBytes))).status).toBe(200)
    const { status, head, body } = await oldest.answer
    expect(status).toBe(503)
    expect(head).toMatch(/retry-after: 1/i)
    expect(body).toContain('"code":"SERVICE_UNAVAILABLE"')
    newer.finish()
    expect((await newer.answer).status).toBe(200)
  })

  it.each([
    ['answered', 'finish'],
    ['disconnected', 'hangUp'],
  ] as const)('frees its memory when it is %s', async (_name, end) => {
    const port = await start({ receiving: fewBytes })
    for (let round = 0; round < 5; round += 1) {
      const earlier = await hold(port)
      const latest = await hold(port)
      earlier[end]()
      await earlier.answer
      latest.finish()
      expect((await latest.answer).status).toBe(200)
    }
  })
})
