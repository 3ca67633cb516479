import { encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  judgeForeignReceipt,
  judgeReceipt,
  judgeSharedReceipt,
} from '../../../../src/chains/evm/exact/judge.js'
import type { Log, Receipt } from '../../../../src/chains/evm/rpc/rpc.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { usdcAbi } from '../../../support/evm/localChain.js'

const [transferTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer' })
const [usedTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationUsed' })
const expected = { asset: randomAddress(), from: randomAddress(), to: randomAddress(), value: 10_000n }
const nonce = randomHex(32)

const transfer = (change: Partial<typeof expected> = {}): Log => {
  const { asset, from, to, value } = { ...expected, ...change }
  const data = encodeAbiParameters([{ type: 'uint256' }], [value])
  return { address: asset, topics: [transferTopic, pad(from), pad(to)], data }
}
const use = (of: Hex = nonce, from: Hex = expected.from): Log => ({
  address: expected.asset,
  topics: [usedTopic, pad(from), of],
  data: '0x',
})
const receipt = (logs: readonly Log[], status = true): Receipt => ({
  transactionHash: randomHex(32),
  blockHash: randomHex(32),
  blockNumber: 1n,
  status,
  logs: [...logs],
})

describe('judgeReceipt', () => {
  it.each<[string, readonly Log[], boolean, string]>([
    ['the transfer', [use(), transfer()], true, 'paid'],
    [
      'the transfer among others',
      [transfer({ value: 1n }), transfer(), transfer({ to: randomAddress() })],
      true,
      'paid',
    ],
    ['no log', [], true, 'unpaid'],
    ['a use without a transfer', [use()], true, 'unpaid'],
    ['a transfer of less', [transfer({ value: 9_999n })], true, 'unpaid'],
    ['a transfer of more', [transfer({ value: 10_001n })], true, 'unpaid'],
    ['a transfer to another', [transfer({ to: randomAddress() })], true, 'unpaid'],
    ['a transfer from another', [transfer({ from: randomAddress() })], true, 'unpaid'],
    ['a transfer of another token', [transfer({ asset: randomAddress() })], true, 'unpaid'],
    ['the transfer of a reverted transaction', [transfer()], false, 'reverted'],
    [
      'an event of another name',
      [{ ...transfer(), topics: [randomHex(32), pad(expected.from), pad(expected.to)] }],
      true,
      'unpaid',
    ],
    ['a value of another length', [{ ...transfer(), data: numberToHex(10_000n) }], true, 'unpaid'],
    ['a transfer whose value is indexed', [{ ...transfer(), data: '0x' }], true, 'unpaid'],
  ])('with %s', (_what, logs, status, judgement) => {
    expect(judgeReceipt(receipt(logs, status), expected)).toBe(judgement)
  })

  it('does not depend on letter case', () => {
    const { address, topics, data } = transfer()
    const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
    const log = {
      address: upper(address),
      topics: topics.map((topic, index) => (index === 0 ? topic : upper(topic))),
      data,
    }
    expect(judgeReceipt(receipt([log]), expected)).toBe('paid')
  })
})

describe('judgeForeignReceipt', () => {
  const another = randomHex(32)
  const foreign: Log = { ...transfer(), address: randomAddress() }

  it.each<[string, readonly Log[], string]>([
    ['the use and its transfer', [use(), transfer()], 'paid'],
    ['events of other contracts between the two', [use(), foreign, transfer()], 'paid'],
    [
      'other payments before and after',
      [use(another), transfer(), use(), transfer(), transfer({ value: 1n })],
      'paid',
    ],
    ['a transfer without the use', [transfer()], 'unpaid'],
    [
      'the transfer of another authorization',
      [use(), transfer({ value: 0n }), use(another), transfer()],
      'unpaid',
    ],
    ['one transfer after two uses', [use(), use(another), transfer()], 'unpaid'],
    ['the transfer before the use', [transfer(), use()], 'unpaid'],
    ["someone else's use of the same number", [use(nonce, randomAddress()), transfer()], 'unpaid'],
  ])('with %s', (_what, logs, judgement) => {
    expect(judgeForeignReceipt(receipt(logs), nonce, expected)).toBe(judgement)
  })

  it('of a reverted transaction is reverted', () => {
    expect(judgeForeignReceipt(receipt([use(), transfer()], false), nonce, expected)).toBe('reverted')
  })
})

describe('judgeSharedReceipt', () => {
  const another = randomHex(32)
  const otherTerms = { to: randomAddress(), value: 7n }

  it.each<[string, readonly Log[], string]>([
    ['the use and its transfer', [use(), transfer()], 'paid'],
    ['the transfer before the use, as some tokens tell it', [transfer(), use()], 'paid'],
    [
      'the transfer before the use, and another payment of the payer told in the same way',
      [transfer(otherTerms), use(another), transfer(), use()],
      'paid',
    ],
    [
      'nothing of this payment',
      [use(another, randomAddress()), transfer({ from: randomAddress() })],
      'unpaid',
    ],
    ['only another payment of the payer with the very same terms', [use(another), transfer()], 'unpaid'],
    ['two uses and one transfer of the same terms', [use(another), transfer(), use()], 'unpaid'],
    ['two payments of the same terms', [use(another), transfer(), use(), transfer()], 'paid'],
    ['the use, and a transfer of other terms', [use(), transfer(otherTerms)], 'unpaid'],
  ])('with %s', (_what, logs, judgement) => {
    expect(judgeSharedReceipt(receipt(logs), nonce, expected)).toBe(judgement)
  })

  it('of a reverted transaction is reverted', () => {
    expect(judgeSharedReceipt(receipt([use(), transfer()], false), nonce, expected)).toBe('reverted')
  })
})
