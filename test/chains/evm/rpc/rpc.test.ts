import { describe, expect, it } from 'vitest'
import { createRpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { RateLimitedError, RpcError } from '../../../../src/chains/nodes/endpoint.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { eventually } from '../scene.js'
import { createFakeEndpoint, type FakeEndpoint, hang } from './fakeEndpoint.js'

const address = `0x${'11'.repeat(20)}` as const
const bytes = '0x02f8' as const

const openRpc = async (endpoints: readonly FakeEndpoint[]) => {
  const logger = createMemoryLogger()
  const rpc = createRpc('eip155:84532', endpoints, logger)
  await rpc.probe()
  return { rpc, logger }
}
const openTwo = async () => {
  const endpoints = [createFakeEndpoint('one'), createFakeEndpoint('other')]
  const opened = await openRpc(endpoints)
  // Reads go first to the one that answered its probe faster.
  await opened.rpc.getCode(address)
  const [first, second] = endpoints.sort(
    (one, other) => other.count('eth_getCode') - one.count('eth_getCode'),
  )
  if (first === undefined || second === undefined) throw new Error('There are two')
  return { first, second, ...opened }
}

describe('a read request', () => {
  it('is sent to one endpoint only', async () => {
    const { first, second, rpc } = await openTwo()
    for (let read = 0; read < 10; read++) await rpc.getBalance(address)
    expect([first.count('eth_getBalance'), second.count('eth_getBalance')]).toEqual([10, 0])
  })

  it.each([
    ['fails', { '*': () => new Error('connection reset') }],
    ['is rate limited', { eth_getBalance: () => new RateLimitedError(null) }],
    ['rejects what others accept', { '*': () => new RpcError(-32000, 'Must be authenticated!', null) }],
  ])('fails over when the first endpoint %s, and later requests skip it', async (_how, script) => {
    const { first, second, rpc } = await openTwo()
    first.answer(script)
    expect(await rpc.getBalance(address)).toBe(1n)
    const asked = first.count('eth_getBalance')
    for (let read = 0; read < 5; read++) expect(await rpc.getBalance(address)).toBe(1n)
    expect(first.count('eth_getBalance')).toBe(asked)
    expect(second.count('eth_getBalance')).toBe(6)
  })

  it('is answered by the second endpoint while the first hangs; later requests do not wait', async () => {
    const { first, second, rpc } = await openTwo()
    for (let read = 0; read < 5; read++) await rpc.getBalance(address)
    first.answer({ eth_getBalance: hang })
    expect(await rpc.getBalance(address)).toBe(1n)
    const asked = first.count('eth_getBalance')
    for (let read = 0; read < 5; read++) expect(await rpc.getBalance(address)).toBe(1n)
    expect(first.count('eth_getBalance')).toBe(asked)
    expect(second.count('eth_getBalance')).toBe(6)
  })

  it('is hedged a bounded number of times when every endpoint is slow', async () => {
    const { first, second, rpc } = await openTwo()
    let release = (_balance: string): void => undefined
    const released = new Promise<string>((resolve) => {
      release = resolve
    })
    for (const endpoint of [first, second]) endpoint.answer({ eth_getBalance: () => released })
    const reads = Promise.all(Array.from({ length: 200 }, () => rpc.getBalance(address)))
    await pollUntil(() => second.count('eth_getBalance') > 0, 'the first hedge')
    release('0x1')
    await reads
    expect(first.count('eth_getBalance')).toBe(200)
    expect(second.count('eth_getBalance')).toBeLessThanOrEqual(200)
    expect(second.count('eth_getBalance')).toBeGreaterThan(0)
    expect(second.count('eth_getBalance')).toBeLessThan(60)
  })

  it('accepts an execution failure as the result, without failover', async () => {
    const { first, second, rpc } = await openTwo()
    first.answer({ eth_call: () => new RpcError(3, 'execution reverted', '0x') })
    expect(await rpc.call({ to: address, data: '0x' })).toMatchObject({ succeeds: false, data: '0x' })
    expect(second.count('eth_call')).toBe(0)
    expect(rpc.listHealth().every(({ isUp }) => isUp)).toBe(true)
  })

  it('is not affected by a contract that reverts with the message of a busy node', async () => {
    const { first, rpc } = await openTwo()
    const message = 'execution reverted: 429 too many requests, rate limit exceeded'
    first.answer({ eth_call: () => new RpcError(3, message, '0x08c379a0') })
    expect(await rpc.call({ to: address, data: '0x' })).toMatchObject({ succeeds: false, message })
    expect(rpc.listHealth().every(({ isUp }) => isUp)).toBe(true)
  })

  it('that every endpoint rejects does not mark any as failing', async () => {
    const { first, second, rpc } = await openTwo()
    for (const endpoint of [first, second]) {
      endpoint.answer({ eth_call: () => new RpcError(-32000, 'what a strange contract', null) })
    }
    expect(await rejectionOf(rpc.call({ to: address, data: '0x' }))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
    expect(rpc.listHealth().every(({ isUp }) => isUp)).toBe(true)
    expect(await rpc.getBalance(address)).toBe(1n)
  })

  it('for a method that one endpoint lacks does not mark that endpoint as failing', async () => {
    const { first, second, rpc } = await openTwo()
    second.answer({ eth_gasPrice: () => '0x7' })
    expect(await rpc.getGasPrice()).toBe(7n)
    await rpc.getBalance(address)
    expect([first.count('eth_getBalance'), second.count('eth_getBalance')]).toEqual([1, 0])
  })

  it('is unavailable while no endpoint responds, and works again as soon as one does', async () => {
    const { first, second, rpc } = await openTwo()
    for (const endpoint of [first, second]) endpoint.answer({ '*': () => new Error('connection refused') })
    for (let read = 0; read < 3; read++) {
      expect(await rejectionOf(rpc.getBalance(address))).toMatchObject({ operationalCode: 'SVC-2004' })
    }
    second.heal()
    expect(await rpc.getBalance(address)).toBe(1n)
  })

  it('is never sent to an endpoint of another chain; neither is a transaction', async () => {
    const { first, second, rpc } = await openTwo()
    first.answer({ '*': () => new Error('down') })
    await rpc.probe()
    first.heal()
    first.answer({ eth_chainId: () => '0x1' })
    await rpc.probe()
    const before = first.count('eth_getBalance')
    await rpc.getBalance(address)
    expect(await rpc.send(bytes)).toBe('entered')
    expect(first.count('eth_getBalance')).toBe(before)
    expect(first.count('eth_sendRawTransaction')).toBe(0)
    expect(second.count('eth_sendRawTransaction')).toBe(1)
  })
})

describe('a send', () => {
  it('goes to every endpoint, and resolves once one has accepted', async () => {
    const { first, second, rpc } = await openTwo()
    first.answer({ eth_sendRawTransaction: hang })
    expect(await rpc.send(bytes)).toBe('entered')
    await eventually(() => first.count('eth_sendRawTransaction') === 1 || null)
    expect(second.count('eth_sendRawTransaction')).toBe(1)
  })

  it.each([
    ['refused', new RpcError(-32000, 'txpool is full', null)],
    ['refused', new RateLimitedError(1_000)],
    ['nonce_used', new RpcError(-32000, 'nonce too low', null)],
    ['entered', new RpcError(-32000, 'already known', null)],
    ['unknown', new Error('socket hang up')],
  ])('is %s by its only endpoint: %s', async (answer, error) => {
    const only = createFakeEndpoint('only')
    const { rpc } = await openRpc([only])
    only.answer({ eth_sendRawTransaction: () => error })
    expect(await rpc.send(bytes)).toBe(answer)
  })

  it('without a response does not stop reads from that endpoint', async () => {
    const { first, rpc } = await openTwo()
    first.answer({ eth_sendRawTransaction: () => new Error('socket hang up') })
    await rpc.send(bytes)
    await rpc.getBalance(address)
    expect(first.count('eth_getBalance')).toBe(1)
  })

  it('is refused when no endpoint serves our chain', async () => {
    const only = createFakeEndpoint('only')
    only.answer({ eth_chainId: () => '0x1' })
    const { rpc } = await openRpc([only])
    expect(await rpc.send(bytes)).toBe('refused')
    expect(only.count('eth_sendRawTransaction')).toBe(0)
  })
})
