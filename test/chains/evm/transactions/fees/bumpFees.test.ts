import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bumpFees, type Fees, highestGasPrice } from '../../../../../src/chains/evm/transactions/fees/fees.js'

const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Fees => ({
  type: 'eip1559',
  maxFeePerGas,
  maxPriorityFeePerGas,
})
const legacy = (gasPrice: bigint): Fees => ({ type: 'legacy', gasPrice })

describe('the fees of a replacement', () => {
  it.each<readonly [string, { old: Fees; current: Fees; cap?: bigint; bumped: Fees | null }]>([
    ['are 12.5 % higher', { old: dynamic(800n, 80n), current: dynamic(1n, 1n), bumped: dynamic(900n, 90n) }],
    ['are rounded up', { old: dynamic(801n, 81n), current: dynamic(1n, 1n), bumped: dynamic(902n, 92n) }],
    [
      'are the current ones if those are higher',
      { old: dynamic(800n, 80n), current: dynamic(5_000n, 500n), bumped: dynamic(5_000n, 500n) },
    ],
    [
      'are computed for each price separately',
      { old: dynamic(800n, 80n), current: dynamic(5_000n, 1n), bumped: dynamic(5_000n, 90n) },
    ],
    [
      'never have a tip above the maximum fee',
      { old: dynamic(8n, 8n), current: dynamic(5n, 500n), bumped: dynamic(500n, 500n) },
    ],
    [
      'raise a price of zero, which geth requires',
      { old: dynamic(0n, 0n), current: dynamic(0n, 0n), bumped: dynamic(1n, 1n) },
    ],
    ['are one price on legacy chains', { old: legacy(800n), current: legacy(1n), bumped: legacy(900n) }],
    [
      'are the current price on legacy chains if that is higher',
      { old: legacy(800n), current: legacy(5_000n), bumped: legacy(5_000n) },
    ],
    [
      'exceed both old prices when the chain has become a legacy one',
      { old: dynamic(800n, 80n), current: legacy(1n), bumped: legacy(900n) },
    ],
    [
      'exceed the old price in both when the chain has adopted EIP-1559',
      { old: legacy(800n), current: dynamic(1n, 1n), bumped: dynamic(900n, 900n) },
    ],
    [
      'may reach the cap',
      { old: dynamic(800n, 80n), current: dynamic(1n, 1n), cap: 900n, bumped: dynamic(900n, 90n) },
    ],
    [
      'are null when the cap prevents the minimum bump',
      { old: dynamic(800n, 80n), current: dynamic(1n, 1n), cap: 899n, bumped: null },
    ],
    [
      'are null when the cap is below the current fees',
      { old: legacy(8n), current: legacy(1_000n), cap: 999n, bumped: null },
    ],
  ])('%s', (_what, { old, current, cap = null, bumped }) => {
    expect(bumpFees(old, current, cap)).toEqual(bumped)
  })

  const price = fc.bigInt({ min: 0n, max: 10n ** 15n })
  const fees = fc.oneof(
    price.map(legacy),
    fc.tuple(price, price).map(([one, other]) => (one > other ? dynamic(one, other) : dynamic(other, one))),
  )
  const tipOf = (offer: Fees) => (offer.type === 'legacy' ? offer.gasPrice : offer.maxPriorityFeePerGas)

  it('always satisfy a minimum bump of 12.5 %, include the current fees, and never exceed the cap', () => {
    fc.assert(
      fc.property(fees, fees, fc.option(price), (old, current, cap) => {
        const bumped = bumpFees(old, current, cap)
        if (bumped === null) {
          expect(cap).not.toBeNull()
          expect(bumpFees(old, current, null)).not.toBeNull()
          return
        }
        expect(bumped.type).toBe(current.type)
        for (const read of [highestGasPrice, tipOf]) {
          expect(read(bumped) * 8n >= read(old) * 9n).toBe(true)
          expect(read(bumped) > read(old)).toBe(true)
          expect(read(bumped) >= read(current)).toBe(true)
        }
        expect(tipOf(bumped) <= highestGasPrice(bumped)).toBe(true)
        if (cap !== null) expect(highestGasPrice(bumped) <= cap).toBe(true)
      }),
    )
  })
})
