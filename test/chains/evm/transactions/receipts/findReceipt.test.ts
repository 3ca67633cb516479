import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import { findReceipt } from '../../../../../src/chains/evm/transactions/receipts/findReceipt.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { createFakeEndpoint, type FakeEndpoint, hang, hashOf } from '../../rpc/fakeEndpoint.js'

const transaction = `0x${'ab'.repeat(32)}` as const
const below = { confirmations: 1, isCrossChecked: false }
const above = { confirmations: 1, isCrossChecked: true }

const receiptIn = (number: number, changed: Readonly<Record<string, unknown>> = {}) => ({
  transactionHash: transaction,
  blockHash: hashOf(number),
  blockNumber: numberToHex(number),
  status: '0x1',
  logs: [{ address: `0x${'11'.repeat(20)}`, topics: [hashOf(1)], data: '0x01' }],
  ...changed,
})
const otherLogs = [{ address: `0x${'11'.repeat(20)}`, topics: [hashOf(1)], data: '0x02' }]
const tell = (endpoint: FakeEndpoint, receipt: unknown) =>
  endpoint.answer({ eth_getTransactionReceipt: () => receipt })

const openTwo = async () => {
  const [pinned, other] = [createFakeEndpoint('pinned'), createFakeEndpoint('other')]
  const rpc = createRpc('eip155:84532', [pinned, other], silentLogger)
  await rpc.probe()
  return { pinned, other, rpc }
}

describe('a receipt', () => {
  it('of the only endpoint is accepted when its block is canonical, with one request', async () => {
    const only = createFakeEndpoint('only')
    tell(only, receiptIn(90))
    const rpc = createRpc('eip155:84532', [only], silentLogger)
    expect(await findReceipt(rpc, transaction, above)).toMatchObject({ blockNumber: 90n, status: true })
    expect(only.count('eth_getTransactionReceipt')).toBe(1)
    tell(only, receiptIn(90, { blockHash: hashOf(91) }))
    expect(await findReceipt(rpc, transaction, above)).toBeNull()
  })

  it.each([below, above])('that both endpoints return is accepted: %j', async (policy) => {
    const { pinned, other, rpc } = await openTwo()
    for (const endpoint of [pinned, other]) tell(endpoint, receiptIn(90))
    expect(await findReceipt(rpc, transaction, policy)).toMatchObject({ blockNumber: 90n })
  })

  it('of one endpoint is accepted below the cross-check amount when the other has its block (A17)', async () => {
    const { pinned, rpc } = await openTwo()
    tell(pinned, receiptIn(90))
    expect(await findReceipt(rpc, transaction, below)).not.toBeNull()
    expect(await findReceipt(rpc, transaction, above)).toBeNull()
  })

  it.each([
    ['another block', { blockHash: hashOf(7) }],
    ['another status', { status: '0x0' }],
    ['other logs', { logs: otherLogs }],
    ['no logs', { logs: [] }],
  ])('with %s than on another endpoint is rejected (A17)', async (_what, changed) => {
    for (const policy of [below, above]) {
      const { pinned, other, rpc } = await openTwo()
      tell(pinned, receiptIn(90, changed))
      tell(other, receiptIn(90))
      expect(await findReceipt(rpc, transaction, policy)).toBeNull()
    }
  })

  it('that two endpoints return and a slower third one contradicts is rejected above the amount', async () => {
    const endpoints = ['pinned', 'second', 'third'].map((name) => createFakeEndpoint(name))
    const rpc = createRpc('eip155:84532', endpoints, silentLogger)
    await rpc.probe()
    for (const endpoint of endpoints) tell(endpoint, receiptIn(90))
    expect(await findReceipt(rpc, transaction, above)).not.toBeNull()
    let onSecond = () => {}
    const second = new Promise<void>((resolve) => {
      onSecond = resolve
    })
    endpoints[1]?.answer({
      eth_getTransactionReceipt: () => {
        onSecond()
        return receiptIn(90)
      },
    })
    endpoints[2]?.answer({
      eth_getTransactionReceipt: () => second.then(() => receiptIn(90, { status: '0x0' })),
    })
    expect(await findReceipt(rpc, transaction, above)).toBeNull()
  })

  it('that two endpoints return is accepted while a third one is silent', async () => {
    const endpoints = ['pinned', 'second', 'third'].map((name) => createFakeEndpoint(name))
    const rpc = createRpc('eip155:84532', endpoints, silentLogger)
    await rpc.probe()
    for (const endpoint of endpoints) tell(endpoint, receiptIn(90))
    endpoints[2]?.answer({ eth_getTransactionReceipt: hang })
    expect(await findReceipt(rpc, transaction, above)).not.toBeNull()
  })

  it('in a block that the other endpoint contradicts is rejected (A17)', async () => {
    const { pinned, other, rpc } = await openTwo()
    tell(pinned, receiptIn(90))
    const forked = { number: '0x5a', hash: hashOf(7), timestamp: '0x1' }
    other.answer({ eth_getBlockByNumber: () => forked })
    expect(await findReceipt(rpc, transaction, below)).toBeNull()
  })

  it('in a block that the other endpoint is about to import is retried', async () => {
    const { pinned, other, rpc } = await openTwo()
    pinned.setHead(101)
    tell(pinned, receiptIn(101))
    let asked = 0
    other.answer({
      eth_getBlockByNumber: () => {
        asked += 1
        return asked === 1 ? null : { number: '0x65', hash: hashOf(101), timestamp: '0x1' }
      },
    })
    expect(await findReceipt(rpc, transaction, below)).toMatchObject({ blockNumber: 101n })
    expect(asked).toBe(2)
  })

  it('in a block that only one healthy endpoint has is rejected (A17)', async () => {
    const { pinned, rpc } = await openTwo()
    pinned.setHead(1_000)
    tell(pinned, receiptIn(1_000))
    expect(await findReceipt(rpc, transaction, below)).toBeNull()
  })

  it('is accepted when the other endpoint is silent, but not above the amount', async () => {
    const { pinned, other, rpc } = await openTwo()
    tell(pinned, receiptIn(90))
    other.answer({ '*': hang, eth_getTransactionReceipt: hang, eth_getBlockByNumber: hang })
    expect(await findReceipt(rpc, transaction, below)).not.toBeNull()
    other.answer({ '*': () => new Error('down'), eth_getTransactionReceipt: () => new Error('down') })
    expect(await findReceipt(rpc, transaction, above)).toBeNull()
  })

  it('is accepted when the other endpoint lags far behind', async () => {
    const { pinned, other, rpc } = await openTwo()
    const now = Math.floor(Date.now() / 1_000)
    pinned.setHead(200, now)
    other.setHead(100, now - 600)
    await rpc.probe()
    tell(pinned, receiptIn(200))
    expect(await findReceipt(rpc, transaction, below)).not.toBeNull()
    expect(await findReceipt(rpc, transaction, above)).toBeNull()
  })

  it('is accepted from the requested depth on', async () => {
    const { pinned, other, rpc } = await openTwo()
    for (const endpoint of [pinned, other]) tell(endpoint, receiptIn(99))
    expect(await findReceipt(rpc, transaction, { ...below, confirmations: 3 })).toBeNull()
    expect(await findReceipt(rpc, transaction, { ...below, confirmations: 2 })).not.toBeNull()
  })
})
