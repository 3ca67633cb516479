import { describe, expect, it } from 'vitest'
import { readSettleAmount } from '../../src/schemes/settleAmount.js'

interface Given {
  readonly settleAmount?: bigint
  readonly required?: bigint
  readonly minAmount?: bigint
  readonly signed?: bigint
  readonly isForSettle?: boolean
  readonly isRequiredAmountCharge?: boolean
}

const read = ({ settleAmount, required = 10_000n, minAmount, signed = 10_000n, ...rules }: Given) =>
  readSettleAmount(
    { settleAmount: settleAmount ?? null, requirements: { amount: required, minAmount: minAmount ?? null } },
    { authorizedMaximum: signed, isForSettle: true, isRequiredAmountCharge: false, ...rules },
  )

const above = 'settle_amount_above_maximum'
const below = 'settle_amount_below_minimum'

describe('the rules of settlement for upto', () => {
  it.each<readonly [string, Given, bigint | string]>([
    ['1. settleAmount <= maxAmount', { settleAmount: 10_000n }, 10_000n],
    ['1. one above', { settleAmount: 10_001n }, above],
    ['1. above maxAmount, although the payer signed more', { settleAmount: 10_001n, signed: 20_000n }, above],
    ['1. above what the payer signed', { settleAmount: 9_000n, signed: 8_999n }, above],
    ['2. settleAmount >= minAmount', { settleAmount: 50n, minAmount: 50n }, 50n],
    ['2. one below', { settleAmount: 49n, minAmount: 50n }, below],
    ['2. no minAmount', { settleAmount: 1n }, 1n],
    ['3. settleAmount is 0', { settleAmount: 0n }, 0n],
    ['3. 0 is no dust', { settleAmount: 0n, minAmount: 50n }, 0n],
    ['4. exactly settleAmount, never maxAmount', { settleAmount: 7_000n }, 7_000n],
    ['5. a part of the usage', { settleAmount: 3n, minAmount: 3n }, 3n],
  ])('%s', (_rule, given, expected) => {
    expect(read(given)).toMatchObject(
      typeof expected === 'bigint' ? { amount: expected } : { reason: expected },
    )
  })
})

describe('without settleAmount', () => {
  it('a settlement is refused', () => {
    expect(read({})).toEqual({
      reason: 'settle_amount_required',
      message: 'settleAmount: is required to settle this payment',
    })
  })

  it('a verification assumes the whole maximum, whatever minAmount is', () => {
    expect(read({ isForSettle: false, minAmount: 10_000n })).toEqual({ amount: 10_000n })
    expect(read({ isForSettle: false, signed: 12_000n })).toEqual({ amount: 12_000n })
  })

  it.each<readonly [Given, bigint | string]>([
    [{ required: 7_000n }, 7_000n],
    [{ required: 0n, minAmount: 50n }, 0n],
    [{ required: 10_001n }, above],
    [{ required: 49n, minAmount: 50n }, below],
  ])('a settlement of x402 charges requirements.amount: %o', (given, expected) => {
    expect(read({ ...given, isRequiredAmountCharge: true })).toMatchObject(
      typeof expected === 'bigint' ? { amount: expected } : { reason: expected },
    )
  })

  it('a verification of x402 requires the maximum, not a charge', () => {
    expect(read({ required: 7_000n, isForSettle: false, isRequiredAmountCharge: true })).toEqual({
      amount: 10_000n,
    })
  })
})

it('a verification with settleAmount is judged like its settlement', () => {
  expect(read({ settleAmount: 10_001n, isForSettle: false })).toMatchObject({ reason: above })
  expect(read({ settleAmount: 7_000n, isForSettle: false })).toEqual({ amount: 7_000n })
})

it('refusals name the figures', () => {
  expect(read({ settleAmount: 10_001n })).toHaveProperty(
    'message',
    'The amount to settle, 10001, exceeds the maximum, 10000',
  )
  expect(read({ settleAmount: 4n, minAmount: 50n })).toHaveProperty(
    'message',
    'The amount to settle, 4, is lower than minAmount, 50, and not 0',
  )
})
