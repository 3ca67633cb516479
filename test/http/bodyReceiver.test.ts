import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createBodyReceiver } from '../../src/http/plugins/jsonBodies.js'

type Receive = ReturnType<typeof createBodyReceiver>

const begin = (receive: Receive, ip: string) => {
  const stream = new IncomingMessage(new Socket())
  const request: Parameters<Receive>[0] = Object.assign(Object.create(null), {
    ip,
    headers: {},
    routeOptions: { bodyLimit: 100_000 },
  })
  const outcome = receive(request, stream).then(
    (body) => body.length,
    (error: Error) => error.message,
  )
  return {
    outcome,
    send: (bytes: number) => stream.emit('data', Buffer.alloc(bytes)),
    end: () => stream.emit('end'),
  }
}

describe('bodies that arrive at once and exceed the memory for them', () => {
  it('are refused to the site that has most of it, the oldest first', async () => {
    const receive = createBodyReceiver({ deadlineMs: 60_000, maxBufferedBytes: 100_000 })
    const good = begin(receive, '192.0.2.1')
    good.send(10_000)
    const hostile = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:2::1'].map((ip) => begin(receive, ip))
    for (const { send } of hostile) send(20_000)
    good.end()
    for (const { end } of hostile) end()
    expect(await good.outcome).toBe(10_000)
    expect(await Promise.all(hostile.map(({ outcome }) => outcome))).toEqual([
      'Too many bodies are arriving at once',
      20_000,
      20_000,
    ])
  })
})
