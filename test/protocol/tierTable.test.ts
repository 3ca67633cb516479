import { expect, it } from 'vitest'
import { readTierTable } from '../../src/protocol/tiers.js'

const basic = { name: 'Basic', monthlyQuota: 10, rpmLimit: 5, feeRate: 0.01, priceCents: 1 }

it('tiers keep their order, and fees and prices default to 0', () => {
  const read = readTierTable(JSON.stringify({ zinc: { name: 'Z', monthlyQuota: -1, rpmLimit: -1 }, basic }))
  expect(read).toEqual({
    table: { zinc: { name: 'Z', monthlyQuota: -1, rpmLimit: -1, feeRate: 0, priceCents: 0 }, basic },
  })
  if ('table' in read) expect(Object.keys(read.table)).toEqual(['zinc', 'basic'])
})

it.each([
  ['[]', 'must be a JSON object'],
  ['{', 'must be a JSON object'],
  ['{}', 'must have 1 to 50 tiers'],
  [JSON.stringify({ Basic: basic }), 'the tier name "Basic" must be'],
  [JSON.stringify({ '1': basic }), 'the tier name "1" must be'],
  ['{"__proto__":{}}', 'the tier name "__proto__" must be'],
  [JSON.stringify({ basic: 7 }), 'basic must be a JSON object'],
  [JSON.stringify({ basic: { ...basic, rpm: 7 } }), 'basic has the unknown field rpm'],
  [JSON.stringify({ basic: { ...basic, name: '' } }), 'basic.name must not be empty'],
  [JSON.stringify({ basic: { ...basic, rpmLimit: 0 } }), 'basic.rpmLimit must be a whole number from 1'],
  [JSON.stringify({ basic: { ...basic, rpmLimit: 1.5 } }), 'basic.rpmLimit must be a whole number from 1'],
  [JSON.stringify({ basic: { ...basic, monthlyQuota: '5' } }), 'basic.monthlyQuota must be a number'],
  [JSON.stringify({ basic: { ...basic, monthlyQuota: undefined } }), 'basic.monthlyQuota must be a number'],
  [JSON.stringify({ basic: { ...basic, feeRate: 1.1 } }), 'basic.feeRate must be from 0 to 1'],
  [JSON.stringify({ basic: { ...basic, priceCents: -1 } }), 'basic.priceCents must not be negative'],
])('%s is refused with a sentence', (text, sentence) => {
  const read = readTierTable(text)
  expect('problems' in read ? read.problems.join('; ') : read).toContain(sentence)
})
