import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convertAmount, type RouteFacts, scoreRoute } from '../../../src/usecases/intents/planRoutes.js'

const free = { paidBy: 'facilitator' } as const
const owed = { paidBy: 'payer' } as const
const facts = fc.record({
  amount: fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
  balance: fc.option(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  fee: fc.constantFrom(free, owed, null),
  seconds: fc.option(fc.integer({ min: 0, max: 10_000 })),
})

describe('the score of a route', () => {
  // The worked examples of docs/intents.md.
  it.each<[string, RouteFacts, number]>([
    ['free, 2 s, a hundredth of the balance', { amount: 1n, balance: 100n, fee: free, seconds: 2 }, 0.979],
    ['free, 2 s, all of the balance', { amount: 100n, balance: 100n, fee: free, seconds: 2 }, 0.781],
    ['free, 30 s, half of the balance', { amount: 50n, balance: 100n, fee: free, seconds: 30 }, 0.75],
    ['paid by the payer, 2 s, a hundredth', { amount: 1n, balance: 100n, fee: owed, seconds: 2 }, 0.479],
    ['nothing known', { amount: 1n, balance: null, fee: null, seconds: null }, 0.25],
  ])('%s', (_name, route, score) => {
    expect(scoreRoute(route)).toBe(score)
  })

  it('is between 0 and 1', () => {
    fc.assert(
      fc.property(facts, (route) => {
        expect(scoreRoute(route)).toBeGreaterThanOrEqual(0)
        expect(scoreRoute(route)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('never falls when a route becomes faster, cheaper for the payer, or better covered', () => {
    fc.assert(
      fc.property(facts, fc.nat({ max: 10_000 }), (route, less) => {
        const score = scoreRoute(route)
        expect(scoreRoute({ ...route, fee: free })).toBeGreaterThanOrEqual(score)
        expect(
          scoreRoute({ ...route, seconds: Math.max(0, (route.seconds ?? 10_000) - less) }),
        ).toBeGreaterThanOrEqual(score)
        expect(scoreRoute({ ...route, balance: (route.balance ?? 0n) * 2n })).toBeGreaterThanOrEqual(score)
      }),
    )
  })
})

describe('an amount in a token with other decimals', () => {
  it.each([
    [1n, 6, 18, 1_000_000_000_000n],
    [10_000n, 6, 6, 10_000n],
    [10_000n, 6, 2, 1n],
    [10_001n, 6, 2, null],
    [1n, 6, 0, null],
    [2n ** 255n, 6, 18, null],
  ])('%d with %d decimals has %d decimals: %s', (amount, from, to, converted) => {
    expect(convertAmount(amount, from, to)).toBe(converted)
  })

  it('is the same amount when it is converted back', () => {
    const decimals = fc.integer({ min: 0, max: 36 })
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 128n }), decimals, decimals, (amount, from, to) => {
        const converted = convertAmount(amount, from, to)
        if (converted !== null) expect(convertAmount(converted, to, from)).toBe(amount)
      }),
    )
  })
})
