import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type Endpoint, RateLimitedError, RpcError } from '../../../src/chains/nodes/endpoint.js'
import { NoResponseError } from '../../../src/chains/nodes/httpClient.js'
import { createJsonRpcEndpoint } from '../../../src/chains/nodes/jsonRpcEndpoint.js'
import { describeError } from '../../../src/platform/scrub.js'
import { Secret } from '../../../src/platform/secret.js'
import { waitLimitMs } from '../../support/pollUntil.js'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

interface Seen {
  readonly calls: readonly Call[]
  readonly isBatch: boolean
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

const callSchema = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) })
const closers: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) close()
})

/** A node whose responses the test controls. */
const startNode = async (answer: (seen: Seen, response: ServerResponse) => void) => {
  const seen: Seen[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const isBatch = Array.isArray(body)
    const calls = z.array(callSchema).parse(isBatch ? body : [body])
    const one = { calls, isBatch, path: request.url ?? '', headers: request.headers }
    seen.push(one)
    answer(one, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return { seen, host: `127.0.0.1:${port}`, countConnections: () => connections }
}

const send = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
const echo = ({ id, params }: Call) => ({ jsonrpc: '2.0', id, result: params[0] })
const sendEchoes = ({ calls, isBatch }: Seen, response: ServerResponse): void =>
  send(response, isBatch ? calls.map(echo) : calls.map(echo)[0])

const ask = (endpoint: Endpoint, word: string) => endpoint.request('echo', [word], z.string())
const askMany = (endpoint: Endpoint, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(endpoint, `word ${index}`)))
const words = (count: number) => Array.from({ length: count }, (_, index) => `word ${index}`)
const open = (host: string, timeoutMs = waitLimitMs) =>
  createJsonRpcEndpoint(new Secret(`http://${host}/`), timeoutMs)
const errorOf = async (work: Promise<unknown>): Promise<Error> => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (thrown instanceof Error) return thrown
  throw new Error('Expected a rejection')
}

describe('JSON-RPC batching', () => {
  it('sends requests of the same tick as one batch, and a single request alone', async () => {
    const { seen, host } = await startNode(sendEchoes)
    const endpoint = open(host)
    expect(await askMany(endpoint, 20)).toEqual(words(20))
    expect(await askMany(endpoint, 1)).toEqual(words(1))
    expect(seen.map(({ calls, isBatch }) => [calls.length, isBatch])).toEqual([
      [20, true],
      [1, false],
    ])
  })

  it('limits a batch to 100 requests', async () => {
    const { seen, host } = await startNode(sendEchoes)
    const endpoint = open(host)
    expect(await askMany(endpoint, 250)).toEqual(words(250))
    expect(seen.map(({ calls }) => calls.length)).toEqual([100, 100, 50])
  })

  it('sends long requests alone, and short ones in a batch', async () => {
    const { seen, host } = await startNode(sendEchoes)
    const endpoint = open(host)
    const long = 'x'.repeat(10_000)
    const asked = ['a', long, 'b', long]
    expect(await Promise.all(asked.map((word) => ask(endpoint, word)))).toEqual(asked)
    expect(seen.map(({ calls }) => calls.length).sort()).toEqual([1, 1, 2])
  })

  it('assigns responses to requests by id, in any order', async () => {
    const { host } = await startNode(({ calls }, response) => send(response, calls.map(echo).reverse()))
    expect(await askMany(open(host), 30)).toEqual(words(30))
  })

  it('keeps connections alive, and opens at most 32', async () => {
    const waiting: (() => void)[] = []
    const { host, countConnections, seen } = await startNode((one, response) => {
      waiting.push(() => sendEchoes(one, response))
      if (waiting.length === 32) for (const go of waiting.splice(0)) go()
    })
    const endpoint = open(host)
    const asked: Promise<unknown>[] = []
    for (let index = 0; index < 64; index++) {
      asked.push(ask(endpoint, 'word'))
      // One HTTP request each.
      await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    await Promise.all(asked)
    expect(seen).toHaveLength(64)
    expect(countConnections()).toBe(32)
  })

  it.each<[string, (seen: Seen, response: ServerResponse) => void]>([
    ['one error', (_seen, response) => send(response, { id: null, error: { code: -32600, message: 'no' } })],
    [
      'one error as a bad request',
      (_, response) => send(response, { error: { code: -1, message: 'no' } }, 400),
    ],
    ['some of the answers', ({ calls }, response) => send(response, calls.slice(1).map(echo))],
    ['none of the answers', (_seen, response) => send(response, [])],
    [
      'unknown ids',
      ({ calls }, response) =>
        send(
          response,
          calls.map((call) => ({ ...echo(call), id: `${call.id}` })),
        ),
    ],
    ['413', (_seen, response) => response.writeHead(413).end('<html>')],
  ])(
    'sends requests one by one after the batch was answered with %s, and then stops batching',
    async (_what, refuse) => {
      const { seen, host } = await startNode((one, response) =>
        one.isBatch ? refuse(one, response) : sendEchoes(one, response),
      )
      const endpoint = open(host)
      expect(await askMany(endpoint, 3)).toEqual(words(3))
      const before = seen.length
      expect(await askMany(endpoint, 5)).toEqual(words(5))
      expect(seen.slice(before).map(({ isBatch }) => isBatch)).toEqual([false, false, false, false, false])
    },
  )

  it('halves the batch size until the node accepts it', async () => {
    const { seen, host } = await startNode((one, response) =>
      one.calls.length > 10
        ? send(response, { error: { code: -32600, message: 'batch too large' } })
        : sendEchoes(one, response),
    )
    const endpoint = open(host)
    for (let round = 0; round < 3; round++) expect(await askMany(endpoint, 40)).toEqual(words(40))
    const before = seen.length
    expect(await askMany(endpoint, 40)).toEqual(words(40))
    expect(seen.slice(before).map(({ calls }) => calls.length)).toEqual([10, 10, 10, 10])
  })

  it('does not send requests one by one after a rate limit', async () => {
    const { seen, host } = await startNode((_seen, response) => {
      response.setHeader('retry-after', '7')
      send(response, { error: { code: 429, message: 'slow down' } }, 429)
    })
    const busy = await errorOf(askMany(open(host), 10))
    expect(busy).toBeInstanceOf(RateLimitedError)
    expect(busy).toMatchObject({ retryAfterMs: 7_000 })
    expect(seen).toHaveLength(1)
  })
})

describe('JSON-RPC responses above the limit', () => {
  const large = 'x'.repeat(12 * 1024 * 1024)
  /** Of this answer three do not fit into one response. */
  const answer = ({ id, params }: Call) => ({ id, result: params[0] === 'large' ? large : params[0] })

  it('are asked for again in smaller batches', async () => {
    const { seen, host } = await startNode(({ calls, isBatch }, response) =>
      send(response, isBatch ? calls.map(answer) : calls.map(answer)[0]),
    )
    const endpoint = open(host, 20_000)
    const asked = ['large', 'one', 'large', 'two', 'large'].map((word) => ask(endpoint, word))
    expect((await Promise.all(asked)).map((text) => text.length)).toEqual([
      large.length,
      3,
      large.length,
      3,
      large.length,
    ])
    const before = seen.length
    expect(await askMany(endpoint, 5)).toEqual(words(5))
    expect(seen.slice(before).map(({ calls }) => calls.length)).toEqual([5])
  })

  it('fail the request that asks for too much, and no other', async () => {
    const endless = large.repeat(3)
    const { host } = await startNode(({ calls, isBatch }, response) => {
      const answers = calls.map(({ id, params }) => ({
        id,
        result: params[0] === 'word 1' ? endless : params[0],
      }))
      send(response, isBatch ? answers : answers[0])
    })
    const endpoint = open(host, 20_000)
    const [first, second, third] = await Promise.allSettled(words(3).map((word) => ask(endpoint, word)))
    expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(second).toMatchObject({ reason: { name: 'ResponseTooLargeError' } })
  })
})

describe('JSON-RPC errors', () => {
  const refuseWith = (error: object) =>
    startNode(({ calls }, response) => send(response, { id: calls[0]?.id, error }))

  it.each([
    ['no data', { code: -32000, message: 'no' }, null],
    ['data', { code: 3, message: 'execution reverted', data: '0x08c379a0' }, '0x08c379a0'],
    ['data of any form', { code: -32002, message: 'failed', data: { err: 'X' } }, { err: 'X' }],
  ])('keep the code and message of the node, with %s', async (_what, error, data) => {
    const { host } = await refuseWith(error)
    const refusal = await errorOf(ask(open(host), 'word'))
    expect(refusal).toBeInstanceOf(RpcError)
    expect(refusal).toMatchObject({ code: error.code, message: error.message, data })
  })

  it('keep the name of the cause, as NEAR gives one', async () => {
    const cause = { name: 'UNKNOWN_TRANSACTION', info: {} }
    const { host } = await refuseWith({ code: -32_000, message: 'Server error', data: 'unknown', cause })
    expect(await errorOf(ask(open(host), 'word'))).toMatchObject({
      message: 'Server error',
      data: 'unknown',
      causeName: 'UNKNOWN_TRANSACTION',
    })
    const other = await refuseWith({ code: -32_000, message: 'Server error', cause: 'a text' })
    expect(await errorOf(ask(open(other.host), 'word'))).toMatchObject({ causeName: null })
  })

  it('are read when `error` is a string with `code` beside it', async () => {
    const { host } = await startNode((_seen, response) =>
      send(response, { ok: false, error: 'cannot apply the message', code: 500 }, 500),
    )
    const refusal = await errorOf(ask(open(host), 'word'))
    expect(refusal).toMatchObject({ code: 500, message: 'cannot apply the message', data: null })
  })

  it('are accepted with any HTTP status, and apply to their own request only', async () => {
    const { host } = await startNode(({ calls }, response) =>
      send(
        response,
        calls.map((call) =>
          call.params[0] === 'word 1' ? { id: call.id, error: { code: 3, message: 'no' } } : echo(call),
        ),
      ),
    )
    const endpoint = open(host)
    const [first, second, third] = await Promise.allSettled(words(3).map((word) => ask(endpoint, word)))
    expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const unauthorized = await startNode((_seen, response) =>
      send(response, { error: { code: -32001, message: 'unauthorized' } }, 401),
    )
    expect(await errorOf(ask(open(unauthorized.host), 'word'))).toMatchObject({ code: -32001 })
  })
})

describe('missing or invalid responses', () => {
  const deadlineMs = 150

  it.each<[string, (seen: Seen, response: ServerResponse) => void]>([
    ['no byte arrives', () => undefined],
    ['the body never ends', (_seen, response) => response.writeHead(200).write('{"jsonrpc":"2.0",')],
    [
      'the body arrives byte by byte',
      (_seen, response) => {
        const timer = setInterval(() => response.write(' '), 20)
        response.once('close', () => clearInterval(timer))
      },
    ],
  ])('reject at the deadline when %s', async (_what, answer) => {
    const { host } = await startNode(answer)
    const endpoint = open(host, deadlineMs)
    const errors = await Promise.all([errorOf(ask(endpoint, 'one')), errorOf(ask(endpoint, 'two'))])
    for (const error of errors) expect(error).not.toBeInstanceOf(RpcError)
  })

  it('reject at the deadline while the request waits for a connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { host } = await startNode(() => undefined)
    const endpoint = open(host, deadlineMs)
    const asked: Promise<Error>[] = []
    for (let index = 0; index < 40; index++) {
      asked.push(errorOf(ask(endpoint, 'word')))
      await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    // All at once: those that have a connection, and those that wait for one.
    vi.advanceTimersByTime(deadlineMs)
    await Promise.all(asked)
  })

  it.each<[string, (seen: Seen, response: ServerResponse) => void]>([
    ['a gateway page', (_seen, response) => response.writeHead(502).end('<html>')],
    ['invalid JSON', (_seen, response) => response.end('hello')],
    ['JSON that is not JSON-RPC', (_seen, response) => send(response, { hello: 1 })],
    ['a result with an error status', ({ calls }, response) => send(response, calls.map(echo)[0], 500)],
    ['a closed connection', (_seen, response) => void response.socket?.destroy()],
    ['a result of another shape', ({ calls }, response) => send(response, { id: calls[0]?.id, result: 7 })],
  ])('reject with another error than RpcError: %s', async (_what, answer) => {
    const { host } = await startNode(answer)
    expect(await errorOf(ask(open(host), 'word'))).not.toBeInstanceOf(RpcError)
  })
})

describe('connections that the node closes', () => {
  /** Resets the connection of the requests whose number is in `lost`, from 1. */
  const startLosing = (lost: (request: number) => boolean) => {
    let requests = 0
    return startNode((seen, response) => {
      requests += 1
      if (lost(requests)) response.socket?.resetAndDestroy()
      else sendEchoes(seen, response)
    })
  }

  it('are replaced once by another, on which the request is sent again', async () => {
    const node = await startLosing((request) => request === 2)
    const endpoint = open(node.host)
    expect(await ask(endpoint, 'one')).toBe('one')
    expect(await askMany(endpoint, 3)).toEqual(words(3))
    expect(node.seen.map(({ calls }) => calls.length)).toEqual([1, 3, 3])
    expect(node.countConnections()).toBe(2)
  })

  it('reject when the second is closed as well', async () => {
    const node = await startLosing(() => true)
    expect(await errorOf(ask(open(node.host), 'one'))).toBeInstanceOf(NoResponseError)
    expect(node.seen).toHaveLength(2)
  })
})

describe('secrets in the endpoint URL', () => {
  const key = 's3cret-k3y'
  const secrets = [key, 'us3rname', 'passw0rd']
  const urlOf = (host: string) => `http://us3rname:passw0rd@${host}/v2/${key}?token=${key}`

  it('are sent: path, query and basic authentication', async () => {
    const { seen, host } = await startNode(sendEchoes)
    const endpoint = createJsonRpcEndpoint(new Secret(urlOf(host)), 1_000)
    expect(await ask(endpoint, 'word')).toBe('word')
    expect(endpoint.host).toBe(host)
    expect(seen[0]?.path).toBe(`/v2/${key}?token=${key}`)
    expect(seen[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('us3rname:passw0rd').toString('base64')}`,
    )
  })

  it.each<[string, (seen: Seen, response: ServerResponse) => void]>([
    ['does not respond', () => undefined],
    ['closes the connection', (_seen, response) => void response.socket?.destroy()],
    [
      'answers with an HTML page',
      ({ path }, response) => response.writeHead(403).end(`<html>${path}</html>`),
    ],
    ['answers with invalid JSON', ({ path }, response) => response.end(path)],
    [
      'quotes them in an error',
      ({ path, calls }, response) =>
        send(response, {
          id: calls[0]?.id,
          error: { code: -32001, message: `${path} by us3rname is unknown` },
        }),
    ],
    [
      'quotes them in a result',
      ({ path, calls }, response) => send(response, { id: calls[0]?.id, result: [path] }),
    ],
  ])('do not appear in errors when the node %s', async (_what, answer) => {
    const { host } = await startNode(answer)
    const error = await errorOf(ask(createJsonRpcEndpoint(new Secret(urlOf(host)), 150), 'word'))
    const text = `${error} ${error.stack} ${JSON.stringify(error)} ${JSON.stringify(describeError(error))}`
    for (const secret of secrets) expect(text).not.toContain(secret)
  })

  it('do not appear in errors when the node is unreachable', async () => {
    const { host } = await startNode(sendEchoes)
    for (const close of closers.splice(0)) close()
    const error = await errorOf(ask(createJsonRpcEndpoint(new Secret(urlOf(host)), 1_000), 'word'))
    expect(error.message).toContain(host)
    for (const secret of secrets) expect(`${error} ${error.stack}`).not.toContain(secret)
  })
})
