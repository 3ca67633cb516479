import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RateLimitedError, RpcError } from '../../../src/chains/nodes/endpoint.js'
import { NoResponseError } from '../../../src/chains/nodes/httpClient.js'
import { createPathEndpoint } from '../../../src/chains/nodes/pathEndpoint.js'
import { describeError } from '../../../src/platform/scrub.js'
import { Secret } from '../../../src/platform/secret.js'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const startNode = async (
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
) => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    answer(request, Buffer.concat(chunks).toString(), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const bound = server.address()
  return `127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`
}

const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  )

describe('path endpoint', () => {
  it.each([
    ['', '/wallet/getnowblock'],
    ['/', '/wallet/getnowblock'],
    ['/a-long-secret-key', '/a-long-secret-key/wallet/getnowblock'],
    ['/a-long-secret-key/?token=x', '/a-long-secret-key/wallet/getnowblock?token=x'],
  ])('appends the method path to its URL %j', async (base, path) => {
    const host = await startNode((request, body, response) => {
      response.end(
        JSON.stringify({ url: request.url, body: JSON.parse(body), key: request.headers['x-key'] }),
      )
    })
    const endpoint = createPathEndpoint(new Secret(`http://${host}${base}`), 1_000, {
      'x-key': new Secret('k'),
    })
    expect(endpoint.host).toBe(host)
    expect(await endpoint.request('/wallet/getnowblock', { num: 1 }, z.unknown())).toEqual({
      url: path,
      body: { num: 1 },
      key: 'k',
    })
  })

  it.each([
    [429, 'slow down', RateLimitedError],
    [503, 'gone', NoResponseError],
    [200, '<html>', NoResponseError],
    [404, 'no such path', RpcError],
  ])('maps HTTP status %i with body %j to its error class', async (status, text, kind) => {
    const host = await startNode((_request, _body, response) => {
      response.writeHead(status).end(text)
    })
    const endpoint = createPathEndpoint(new Secret(`http://${host}`), 1_000)
    expect(await errorOf(endpoint.request('/x', {}, z.unknown()))).toBeInstanceOf(kind)
  })

  it('removes its URL secret from error texts', async () => {
    const host = await startNode((_request, _body, response) => {
      response.writeHead(403).end('the key a-long-secret-key is not known')
    })
    const endpoint = createPathEndpoint(new Secret(`http://${host}/a-long-secret-key`), 1_000)
    const error = await errorOf(endpoint.request('/x', {}, z.unknown()))
    expect(JSON.stringify(describeError(error))).not.toContain('a-long-secret-key')
  })

  it('rejects at the deadline when the node is silent', async () => {
    const host = await startNode(() => undefined)
    const endpoint = createPathEndpoint(new Secret(`http://${host}`), 50)
    expect(await errorOf(endpoint.request('/x', {}, z.unknown()))).toBeInstanceOf(NoResponseError)
  })
})

describe('path endpoint without a body', () => {
  it.each([
    ['/v1', '/transactions/0xab', '/v1/transactions/0xab'],
    ['/v1/?token=x', '/transactions/0xab', '/v1/transactions/0xab?token=x'],
    ['/?token=x', '/tx/0xab?limit=1', '/tx/0xab?limit=1&token=x'],
    ['/a-long-secret-key', '', '/a-long-secret-key'],
  ])('reads below its URL %j the path %j', async (base, path, url) => {
    const host = await startNode((request, body, response) => {
      response.end(JSON.stringify({ method: request.method, url: request.url, body }))
    })
    const endpoint = createPathEndpoint(new Secret(`http://${host}${base}`), 1_000)
    expect(await endpoint.request(path, null, z.unknown())).toEqual({ method: 'GET', url, body: '' })
  })

  it.each([
    [404, 'RpcError'],
    [410, 'RpcError'],
    [429, 'RateLimitedError'],
    [503, 'NoResponseError'],
  ])('turns HTTP %i into %s', async (status, name) => {
    const host = await startNode((_request, _body, response) => {
      response.writeHead(status).end('{"error_code":"transaction_not_found"}')
    })
    const endpoint = createPathEndpoint(new Secret(`http://${host}`), 1_000)
    const error = await errorOf(endpoint.request('/tx', null, z.unknown()))
    expect(error).toMatchObject({ name })
    if (error instanceof RpcError) expect(error.message).toContain('transaction_not_found')
  })

  it('gives up at its deadline', async () => {
    const host = await startNode(() => undefined)
    const endpoint = createPathEndpoint(new Secret(`http://${host}`), 50)
    expect(await errorOf(endpoint.request('/tx', null, z.unknown()))).toBeInstanceOf(NoResponseError)
  })
})
