import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDollars } from '../../src/protocol/amount.js'

describe('readDollars', () => {
  it.each<[string | number, number, bigint]>([
    ['$0.01', 6, 10_000n],
    ['0.01', 6, 10_000n],
    [0.01, 6, 10_000n],
    ['$1', 18, 1_000_000_000_000_000_000n],
    ['1.10', 1, 11n],
    ['0', 6, 0n],
  ])('reads %j in a token with %i decimals', (price, decimals, units) => {
    expect(readDollars(price, decimals)).toBe(units)
  })

  it.each([
    '',
    '$',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,5',
    '€1',
    '1.',
    '.5',
    '1 000',
    1e21,
    1e-7,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('refuses %j', (price) => {
    expect(readDollars(price, 6)).toBeNull()
  })

  it('never rounds', () => {
    expect(readDollars('0.0000019', 6)).toBeNull()
    expect(readDollars('0.0000010', 6)).toBe(1n)
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        fc.integer({ min: 1, max: 18 }),
        (units, decimals) => {
          const digits = units.toString().padStart(decimals + 1, '0')
          const price = `$${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
          expect(readDollars(price, decimals)).toBe(units)
        },
      ),
    )
  })
})
