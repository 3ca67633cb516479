import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'
import { type TestAppOptions, testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'
import { countConnections, deferred, listen, open } from './support/sockets.js'

let app: FastifyInstance | null = null
let opened: Socket[] = []

const start = async (parts: TestAppOptions = {}, addressOf?: (connection: number) => string) => {
  const own = testApp(parts)
  app = own
  opened = []
  const accepted: Socket[] = []
  own.server.prependListener('connection', (socket: Socket) => {
    const value = addressOf?.(accepted.length)
    if (value !== undefined) Object.defineProperty(socket, 'remoteAddress', { value })
    accepted.push(socket)
  })
  const port = await listen(own)
  /** One after the other, so that the service accepts them in this order. */
  const connect = async (count: number): Promise<readonly Socket[]> => {
    const sockets: Socket[] = []
    for (let index = 0; index < count; index += 1) {
      const before = accepted.length
      const socket = await open(port)
      socket.on('error', () => undefined)
      sockets.push(socket.resume())
      opened.push(socket)
      await pollUntil(() => accepted.length > before, 'the service to accept the connection')
    }
    return sockets
  }
  return { port, accepted, connect, countOpen: () => countConnections(own) }
}

afterEach(async () => {
  vi.useRealTimers()
  for (const socket of opened) socket.destroy()
  await app?.close()
  app = null
})

const payment = JSON.stringify(paymentBody())
const verify = [
  'POST /verify HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  `Content-Length: ${Buffer.byteLength(payment)}`,
  '',
  payment,
].join('\r\n')

const get = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Sends a request on an open connection, and waits for a response. */
const ask = async (socket: Socket): Promise<string> => {
  let text = ''
  const collect = (chunk: Buffer) => {
    text += chunk.toString()
  }
  socket.on('data', collect)
  socket.write(get)
  await pollUntil(() => text.includes('\r\n\r\n') || socket.destroyed, 'the response')
  socket.off('data', collect)
  return text
}

const isServed = async (port: number) => (await fetch(`http://127.0.0.1:${port}/health`)).status === 200

describe('silent connections', () => {
  it('at the cap make room for a new one, the oldest first', async () => {
    const { port, connect } = await start({ maxConnections: 6 })
    const silent = await connect(6)
    expect(await isServed(port)).toBe(true)
    await pollUntil(() => silent[0]?.destroyed === true, 'the end of the oldest connection')
    expect(silent.slice(1).map(({ destroyed }) => destroyed)).toEqual([false, false, false, false, false])
  })

  it('of one address at its cap make room as well', async () => {
    const { port, connect } = await start({ maxConnectionsPerAddress: 3 })
    const silent = await connect(3)
    expect(await isServed(port)).toBe(true)
    await pollUntil(() => silent[0]?.destroyed === true, 'the end of the oldest connection')
  })

  it('are closed before those of clients that have been served, however long these are idle', async () => {
    const { connect } = await start({ maxConnections: 4 })
    const [client] = await connect(1)
    if (client === undefined) throw new Error('There is no connection')
    expect(await ask(client)).toMatch(/^HTTP\/1\.1 200 /)
    const silent = await connect(12)
    await pollUntil(
      () => silent.filter(({ destroyed }) => destroyed).length === 9,
      'the end of 9 connections',
    )
    expect(client.destroyed).toBe(false)
    expect(await ask(client)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('from ten /64 networks of one site have twice the share of one network', async () => {
    const parts = { maxConnections: 20, maxConnectionsPerAddress: 2 }
    const { connect, countOpen } = await start(parts, (index) => `2001:db8:0:${index >> 1}::1`)
    await connect(20)
    await pollUntil(async () => (await countOpen()) === 4, 'the end of all connections but four')
  })

  it('are closed when their first byte does not arrive; others are not', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { accepted, connect } = await start({ firstByteTimeoutMs: waitLimitMs })
    const [begun] = await connect(1)
    begun?.write('G')
    await pollUntil(() => accepted[0]?.bytesRead === 1, 'the first byte')
    const [silent, later] = await connect(2)
    vi.advanceTimersByTime(2 * waitLimitMs)
    await pollUntil(
      () => silent?.destroyed === true && later?.destroyed === true,
      'the end of the silent ones',
    )
    expect(begun?.destroyed).toBe(false)
  })

  it('of a trusted proxy may wait for their first request', async () => {
    const proxy = '203.0.113.1'
    const { connect } = await start({ firstByteTimeoutMs: 500, trustProxy: [proxy] }, (index) =>
      index === 0 ? proxy : '203.0.113.2',
    )
    const [spare, silent] = await connect(2)
    await pollUntil(() => silent?.destroyed === true, 'the end of the silent one')
    expect(spare?.destroyed).toBe(false)
  })
})

describe('connections with a request in progress', () => {
  it('are never closed to make room: where all are busy, the newest is closed', async () => {
    const released = deferred<void>()
    let begun = 0
    const { connect } = await start({
      maxConnections: 3,
      core: {
        verifyPayment: async () => {
          begun += 1
          await released.promise
          return { isValid: true }
        },
      },
    })
    const busy = await connect(3)
    for (const socket of busy) socket.write(verify)
    await pollUntil(() => begun === 3, 'the requests in progress')
    const [newest] = await connect(1)
    await pollUntil(() => newest?.destroyed === true, 'the end of the newest connection')
    expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    released.resolve()
    await pollUntil(() => busy.every(({ bytesRead }) => bytesRead > 0), 'the responses')
    const [next] = await connect(1)
    if (next === undefined) throw new Error('There is no connection')
    expect(await ask(next)).toMatch(/^HTTP\/1\.1 200 /)
    await pollUntil(
      () => busy[0]?.destroyed === true,
      'the end of the one that was idle for the longest time',
    )
  })
})
