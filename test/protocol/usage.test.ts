import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalOf, formatDecimal, readDecimal } from '../../src/protocol/amount.js'
import type { UsageDetails } from '../../src/protocol/payment.js'
import { findUnitProblem, findUsageProblem } from '../../src/protocol/usage.js'

const problemOf = (
  usage: UsageDetails,
  {
    extra = {},
    amount = 0n,
    maximum = 10_000n,
    minimum = 0n,
  }: { extra?: Record<string, unknown>; amount?: bigint; maximum?: bigint; minimum?: bigint } = {},
) => findUsageProblem(usage, extra, { amount, maximum, minimum })

type Case = readonly [
  name: string,
  units: number,
  price: string,
  amount: bigint,
  isAgreed: boolean,
  bounds?: { readonly maximum?: bigint; readonly minimum?: bigint },
]

describe('units times price', () => {
  const cases: readonly Case[] = [
    ['is the amount', 1500, '2', 3_000n, true],
    ['is 1 % more than the amount', 100, '100', 9_900n, true],
    ['is 1 % less than the amount', 100, '50', 5_050n, true],
    ['is more than 1 % above the amount', 100, '100', 9_899n, false],
    ['is more than 1 % below the amount', 100, '50', 5_051n, false],
    ['differs by one smallest unit', 3, '1', 4n, true],
    ['differs by two smallest units', 3, '1', 5n, false],
    ['has a fraction that is rounded up', 1, '0.4', 1n, true],
    ['has a fraction of a unit and of a price', 1.5, '2.5', 4n, true],
    ['is a tenth times three, exactly', 0.1, '30', 3n, true],
    ['is above the maximum, which is settled', 1e9, '5', 10_000n, true],
    ['is above the maximum, and less is settled', 1e9, '5', 9_999n, false],
    ['is above the maximum at the limit of doubles', 1.7e308, '9', 10_000n, true],
    ['is as little as a double can say', 5e-324, '1', 0n, true],
    ['is below the minimum, which is settled', 1, '3', 50n, true, { minimum: 50n }],
    ['is below the minimum, and something between is settled', 1, '3', 49n, false, { minimum: 50n }],
    ['is 0, and nothing is settled', 0, '3', 0n, true],
    ['is 0 below a minimum, and nothing is settled', 0, '3', 0n, true, { minimum: 50n }],
    ['is 0 below a minimum, which is settled', 0, '3', 50n, true, { minimum: 50n }],
    ['is not 0, and nothing is settled', 100, '3', 0n, false],
    ['is 0, and something is settled', 0, '3', 2n, false],
  ]
  for (const [name, unitsConsumed, unitPrice, amount, isAgreed, bounds = {}] of cases) {
    it(name, () => {
      const problem = problemOf({ unitsConsumed, unitPrice }, { amount, ...bounds })
      expect(problem === null).toBe(isAgreed)
    })
  }

  it('that differs is said with the figures', () => {
    expect(problemOf({ unitsConsumed: 12.5, unitPrice: '20.10' }, { amount: 999n })).toBe(
      'usageDetails: 12.5 units at 20.1 are 251.25, and 999 is to be settled',
    )
  })

  it('is said in a short sentence, however long the figures are', () => {
    const problem = problemOf({ unitsConsumed: 5e-324, unitPrice: '9'.repeat(78) }, { amount: 5n })
    expect(problem).toContain('is to be settled')
    expect(problem?.length).toBeLessThan(400)
  })

  it('uses the price of the requirements if the usage has none', () => {
    const extra = { unitPrice: '3' }
    expect(problemOf({ unitsConsumed: 5 }, { extra, amount: 15n })).toBeNull()
    expect(problemOf({ unitsConsumed: 5 }, { extra, amount: 20n })).toContain('5 units at 3 are 15')
    // An offer in words is not a number.
    expect(problemOf({ unitsConsumed: 5 }, { extra: { unitPrice: '$0.01' }, amount: 20n })).toBeNull()
  })

  it('is not judged without units or a price', () => {
    expect(problemOf({}, { amount: 7n })).toBeNull()
    expect(problemOf({ unitsConsumed: 5 }, { amount: 7n })).toBeNull()
    expect(problemOf({ unitPrice: '5' }, { amount: 7n })).toBeNull()
  })
})

describe('usage and requirements', () => {
  it.each([
    ['the same price in another spelling', { unitPrice: '2.50' }, { unitPrice: '2.5' }, true],
    ['another price', { unitPrice: '2.5' }, { unitPrice: '2.51' }, false],
    ['the same unit', { unitType: 'token' }, { unit: 'token' }, true],
    ['another unit', { unitType: 'token' }, { unit: 'second' }, false],
    ['a unit that the requirements do not name', { unitType: 'token' }, {}, true],
    ['times in order', { startTime: 5, endTime: 5 }, {}, true],
    ['an end before its start', { startTime: 6, endTime: 5 }, {}, false],
    ['one time', { startTime: 6 }, {}, true],
  ])('with %s', (_name, usage, extra, isAgreed) => {
    expect(problemOf(usage, { extra }) === null).toBe(isAgreed)
  })

  it.each([
    '',
    ' 5',
    '5 ',
    '-5',
    '+5',
    '0x10',
    '1e3',
    '.5',
    '5.',
    '1,5',
    '$1',
    '9'.repeat(79),
    `1.${'0'.repeat(37)}`,
  ])('a price of %j is said to be of another form', (unitPrice) => {
    expect(problemOf({ unitPrice })).toContain('usageDetails.unitPrice')
  })

  it('never repeat long or odd text of the caller', () => {
    const problem = problemOf({ unitType: 'a' }, { extra: { unit: '<script>'.repeat(16) } })
    expect(problem).not.toContain('script')
  })
})

describe('the billing unit of requirements', () => {
  // The specification's list.
  it.each(['token', 'request', 'second', 'minute', 'byte', 'kb', 'mb'])('may be %s', (unit) => {
    expect(findUnitProblem('upto', { unit })).toBeNull()
  })

  it.each(['tokens', 'KB', 'message', '', 5, {}])('is not %j', (unit) => {
    expect(findUnitProblem('upto', { unit })).toBe(
      'extra.unit: must be one of token, request, second, minute, byte, kb, mb',
    )
  })

  it('may be absent, and has no meaning under another scheme', () => {
    expect(findUnitProblem('upto', {})).toBeNull()
    expect(findUnitProblem('upto', { unit: null })).toBeNull()
    expect(findUnitProblem('exact', { unit: 'gram' })).toBeNull()
  })
})

describe('the decimal text of a number', () => {
  it('is taken exactly', () => {
    expect(decimalOf(0.1)).toEqual({ digits: 1n, scale: 1 })
    expect(decimalOf(1e21)).toEqual({ digits: 10n ** 21n, scale: 0 })
    expect(decimalOf(1.5e-7)).toEqual({ digits: 15n, scale: 8 })
    expect([decimalOf(-1), decimalOf(Number.NaN), decimalOf(Number.POSITIVE_INFINITY)]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('reads as the same number again', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
        const decimal = decimalOf(value)
        expect(decimal).not.toBeNull()
        if (decimal !== null) expect(Number(formatDecimal(decimal))).toBe(value === 0 ? 0 : value)
      }),
    )
  })

  it('of a price survives being read and written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 77n }),
        fc.stringMatching(/^[0-9]{0,35}[1-9]$/),
        (whole, fraction) => {
          const decimal = readDecimal(`${whole}.${fraction}`)
          expect(decimal && formatDecimal(decimal)).toBe(`${whole}.${fraction}`)
        },
      ),
    )
  })
})
