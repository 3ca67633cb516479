import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readUint256 } from '../../src/protocol/amount.js'
import { anyText } from '../support/anyText.js'

const largest = 2n ** 256n - 1n

describe('readUint256', () => {
  it.each([
    ['0', 0n],
    ['1', 1n],
    ['007', 7n],
    ['10000', 10_000n],
    [String(2n ** 53n + 1n), 2n ** 53n + 1n],
    [String(largest), largest],
    ['0'.repeat(78), 0n],
  ])('reads the digits %s', (text, amount) => {
    expect(readUint256(text)).toBe(amount)
  })

  it.each([0, -0, 7, 10_000, Number.MAX_SAFE_INTEGER])('reads the number %d', (number) => {
    expect(readUint256(number)).toBe(BigInt(number))
  })

  it.each([
    ['an empty string, which BigInt reads as 0', ''],
    ['a blank', ' '],
    ['white space around digits', ' 7 '],
    ['a line break after digits', '7\n'],
    ['NUL after digits', '7\0'],
    ['hex', '0x10'],
    ['octal', '0o7'],
    ['binary', '0b1'],
    ['a minus sign', '-1'],
    ['minus zero', '-0'],
    ['a plus sign', '+1'],
    ['an exponent', '1e5'],
    ['a fraction', '1.0'],
    ['a separator', '1_000'],
    ['a thousands comma', '1,000'],
    ['a bigint literal', '1n'],
    ['Arabic digits', '١٢٣'],
    ['full-width digits', '１２３'],
    ['superscript digits', '1²'],
    ['2^256', String(largest + 1n)],
    ['78 nines', '9'.repeat(78)],
    ['79 digits', '0'.repeat(79)],
    ['a word', 'Infinity'],
    ['a fractional number', 1.5],
    ['a negative number', -1],
    ['an unsafe integer', 2 ** 53],
    ['a number that prints with an exponent', 1e21],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a bigint', 7n],
    ['a boolean', true],
    ['null', null],
    ['nothing', undefined],
    ['a list of digits', ['7']],
    ['an object that prints as digits', { toString: () => '7' }],
    ['a boxed string', Object('7')],
  ])('refuses %s', (_, value) => {
    expect(readUint256(value)).toBeNull()
  })

  it('accepts exactly what matches ^[0-9]{1,78}$ and fits in 256 bits', () => {
    const texts = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n * largest }).map(String),
      fc.stringMatching(/^[0-9]{0,80}$/),
      fc.stringMatching(/^[0-9 +\-.xeEn_]{0,6}$/),
      anyText(),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const isAccepted = /^[0-9]{1,78}$/.test(text) && BigInt(text) < 2n ** 256n
        expect(readUint256(text)).toBe(isAccepted ? BigInt(text) : null)
      }),
      { numRuns: 2_000 },
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }),
        (value) => {
          readUint256(value)
        },
      ),
    )
  })
})
