import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callRpc, callRpcBatch, RpcError } from '../support/evm/jsonRpc.js'
import { pollUntil } from '../support/pollUntil.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'

// A server that echoes the method of each call and records its calls.
let target: Server
const asked: string[] = []
let proxy: RpcProxy

interface EchoCall {
  readonly id: number
  readonly method: string
}

beforeAll(async () => {
  target = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const answer = ({ id, method }: EchoCall) => {
      asked.push(method)
      return { jsonrpc: '2.0', id, result: method }
    }
    if (request.url !== '/') {
      asked.push(request.url ?? '')
      response.end(JSON.stringify({ path: request.url, body: text === '' ? null : JSON.parse(text) }))
      return
    }
    const body: EchoCall | EchoCall[] = JSON.parse(text)
    response.end(JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body)))
  })
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  target.close()
  target.closeAllConnections()
})

const targetUrl = () => {
  const address: AddressInfo | string | null = target.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return `http://127.0.0.1:${address.port}`
}

beforeEach(async () => {
  asked.length = 0
  proxy = await startRpcProxy(targetUrl())
})
afterEach(() => proxy.stop())

/** Whether a call has been answered by the time a later one has. */
const isAnswered = async (call: Promise<unknown>): Promise<boolean> => {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  call.then(settle, settle)
  expect(await callRpc(proxy.url, 'eth_chainId')).toBe('eth_chainId')
  return isSettled
}

describe('the RPC proxy', () => {
  it('passes calls and batches on and counts them', async () => {
    expect(await callRpc(proxy.url, 'eth_chainId')).toBe('eth_chainId')
    expect(
      await callRpcBatch(proxy.url, [{ method: 'eth_call', params: [1] }, { method: 'eth_chainId' }]),
    ).toEqual(['eth_call', 'eth_chainId'])
    expect(proxy.count('eth_chainId')).toBe(2)
    expect(proxy.requestCount).toBe(2)
    expect(proxy.calls).toEqual([
      { method: 'eth_chainId', params: [], isBatched: false, request: 1 },
      { method: 'eth_call', params: [1], isBatched: true, request: 2 },
      { method: 'eth_chainId', params: [], isBatched: true, request: 2 },
    ])
    proxy.clearCalls()
    expect(proxy.count('eth_chainId')).toBe(0)
  })

  it('responds with an error', async () => {
    proxy.setFault('eth_call', { kind: 'error', code: -32005, message: 'limit exceeded' })
    await expect(callRpc(proxy.url, 'eth_call')).rejects.toThrow(
      new RpcError('eth_call', -32005, 'limit exceeded'),
    )
    expect(asked).toEqual([])
    expect(await callRpc(proxy.url, 'eth_chainId')).toBe('eth_chainId')
  })

  it('responds to one call of a batch with an error', async () => {
    proxy.setFault('eth_call', { kind: 'error', code: 3, message: 'execution reverted' })
    const batch = callRpcBatch(proxy.url, [{ method: 'eth_chainId' }, { method: 'eth_call' }])
    await expect(batch).rejects.toThrow('eth_call: execution reverted')
    expect(asked).toEqual(['eth_chainId'])
  })

  it('fails by path for nodes with REST paths', async () => {
    const ask = async (path: string, body: object) => {
      const response = await fetch(`${proxy.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
      return await response.json()
    }
    expect(await ask('/wallet/block', { num: 1 })).toEqual({ path: '/wallet/block', body: { num: 1 } })
    proxy.setFault('/wallet/block', { kind: 'error', code: 0, message: 'no' }, { times: 1 })
    expect(await ask('/wallet/block', { num: 2 })).toEqual({ Error: 'no' })
    proxy.setFault('/wallet/block', {
      kind: 'tamper',
      change: (answer, params) => ({ answer, params }),
    })
    expect(await ask('/wallet/block', { num: 3 })).toEqual({
      answer: { path: '/wallet/block', body: { num: 3 } },
      params: [{ num: 3 }],
    })
    expect(asked).toEqual(['/wallet/block', '/wallet/block'])
    expect(proxy.count('/wallet/block')).toBe(3)
  })

  it('responds like a gateway without JSON', async () => {
    proxy.setFault('*', { kind: 'status', status: 502 })
    const response = await fetch(proxy.url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call' }),
    })
    expect(response.status).toBe(502)
    expect(asked).toEqual([])
  })

  it('delays a call', async () => {
    proxy.setFault('eth_call', { kind: 'delay', milliseconds: 3_600_000 })
    expect(await isAnswered(callRpc(proxy.url, 'eth_call'))).toBe(false)
    proxy.setFault('eth_call', { kind: 'delay', milliseconds: 1 })
    expect(await callRpc(proxy.url, 'eth_call')).toBe('eth_call')
    expect(asked).toEqual(['eth_chainId', 'eth_call'])
  })

  it('holds the calls of a method until they are released', async () => {
    const release = proxy.hold('eth_call')
    const call = callRpc(proxy.url, 'eth_call')
    expect(await isAnswered(call)).toBe(false)
    release()
    expect(await call).toBe('eth_call')
    expect(asked).toEqual(['eth_chainId', 'eth_call'])
  })

  it('lets a call hang', async () => {
    proxy.setFault('eth_call', { kind: 'hang' })
    const call = callRpc(proxy.url, 'eth_call')
    expect(await isAnswered(call)).toBe(false)
    expect(asked).toEqual(['eth_chainId'])
    await proxy.stop()
    await expect(call).rejects.toThrow()
  })

  it('resets a connection before the call is forwarded', async () => {
    proxy.setFault('eth_call', { kind: 'refuse' })
    await expect(callRpc(proxy.url, 'eth_call')).rejects.toThrow('ECONNRESET')
    expect(asked).toEqual([])
  })

  it('loses a response after the call was forwarded', async () => {
    proxy.setFault('eth_call', { kind: 'loseAnswer' })
    await expect(callRpc(proxy.url, 'eth_call')).rejects.toThrow('ECONNRESET')
    expect(asked).toEqual(['eth_call'])
  })

  it('loses a response without closing the connection', async () => {
    proxy.setFault('eth_call', { kind: 'loseAnswer', connection: 'silent' })
    const call = callRpc(proxy.url, 'eth_call')
    await pollUntil(() => asked.includes('eth_call'), 'the call')
    expect(await isAnswered(call)).toBe(false)
    expect(asked).toEqual(['eth_call', 'eth_chainId'])
    await proxy.stop()
    await expect(call).rejects.toThrow()
  })

  it('tampers with a result', async () => {
    proxy.setFault('eth_call', { kind: 'tamper', change: (result, params) => [result, ...params] })
    expect(await callRpc(proxy.url, 'eth_call', [7])).toEqual(['eth_call', 7])
  })

  it('rewrites the parameters of a call', async () => {
    const front = await startRpcProxy(proxy.url)
    front.setFault('eth_call', { kind: 'rewrite', change: (params) => [...params, 'latest'] })
    expect(await callRpc(front.url, 'eth_call', [7])).toBe('eth_call')
    expect(proxy.calls.map(({ params }) => params)).toEqual([[7, 'latest']])
    await front.stop()
  })

  it('ends a fault after a number of calls, or on request', async () => {
    proxy.setFault('*', { kind: 'error', code: 1, message: 'no' }, { times: 1 })
    await expect(callRpc(proxy.url, 'eth_call')).rejects.toThrow('no')
    expect(await callRpc(proxy.url, 'eth_call')).toBe('eth_call')
    proxy.setFault('*', { kind: 'error', code: 1, message: 'no' })
    proxy.clearFaults()
    expect(await callRpc(proxy.url, 'eth_call')).toBe('eth_call')
  })
})
