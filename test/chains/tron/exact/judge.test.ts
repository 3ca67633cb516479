import { describe, expect, it } from 'vitest'
import { type TronAddress, toWord } from '../../../../src/chains/tron/encoding/address.js'
import { judgeReceipt } from '../../../../src/chains/tron/exact/resolve.js'

const address = (digit: string): TronAddress => `41${digit.repeat(40)}`
const expected = { asset: address('a'), from: address('b'), to: address('c'), value: 10_000n }
const word = (value: bigint): string => value.toString(16).padStart(64, '0')

const good = {
  address: 'a'.repeat(40),
  topics: [
    'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    toWord(expected.from),
    toWord(expected.to),
  ],
  data: word(10_000n),
}
const [topic = '', from = '', to = ''] = good.topics

describe('judgeReceipt', () => {
  it('is paid with a Transfer event of exactly this payment', () => {
    expect(judgeReceipt({ result: 'SUCCESS', logs: [good] }, expected)).toBe('paid')
  })

  it.each(['OUT_OF_ENERGY', 'REVERT', 'OUT_OF_TIME', null])(
    'is failed with the result %s, whatever the events',
    (result) => {
      expect(judgeReceipt({ result, logs: [good] }, expected)).toBe('failed')
    },
  )

  it.each([
    ['of another contract', { ...good, address: 'd'.repeat(40) }],
    ['of another kind', { ...good, topics: ['0'.repeat(64), from, to] }],
    ['from another payer', { ...good, topics: [topic, toWord(address('d')), to] }],
    ['to another recipient', { ...good, topics: [topic, from, toWord(address('d'))] }],
    ['of a lower amount', { ...good, data: word(9_999n) }],
    ['of a higher amount', { ...good, data: word(10_001n) }],
    ['without a value', { ...good, data: '' }],
    ['without parties', { ...good, topics: [topic] }],
  ])('is unpaid with an event %s', (_what, log) => {
    expect(judgeReceipt({ result: 'SUCCESS', logs: [log] }, expected)).toBe('unpaid')
  })

  it('is unpaid without events', () => {
    expect(judgeReceipt({ result: 'SUCCESS', logs: [] }, expected)).toBe('unpaid')
  })
})
