import { describe, expect, it } from 'vitest'
import {
  createMinimumPayment,
  type MinimumPaymentSettings,
  type MinimumPaymentTerms,
} from '../../../src/chains/common/minimumPayment.js'

interface Given extends Partial<MinimumPaymentSettings>, Partial<Omit<MinimumPaymentTerms, 'settings'>> {}

const create = ({
  fixed = null,
  coinUsd = 3_000,
  stablecoins = [{ asset: 'USDC', decimals: 6 }],
  gasShare = 0.1,
  coinDecimals = 18,
}: Given = {}) =>
  createMinimumPayment({
    network: 'eip155:8453',
    settings: { fixed, coinUsd, stablecoins },
    gasShare,
    coinDecimals,
  })

const accepts = (
  minimum: ReturnType<typeof create>,
  payment: { amount: bigint; cost?: bigint | null; asset?: string; isForSettle?: boolean },
): boolean => minimum.refuse({ asset: 'USDC', cost: cost1, isForSettle: false, ...payment }) === null

/** 0.0001 coins: 0.3 USD at 3,000 USD, of which a tenth is 0.03 USD. */
const cost1 = 10n ** 14n

describe('the minimum payment', () => {
  it.each([
    [0, 1n],
    [2, 3n],
    [6, 30_000n],
    [8, 3_000_000n],
    [9, 30_000_000n],
    [18, 30_000_000_000_000_000n],
  ])('of a token with %i decimals is worth its share of the cost', (decimals, expected) => {
    const minimum = create({ stablecoins: [{ asset: 'USDC', decimals }] })
    expect(accepts(minimum, { amount: expected })).toBe(true)
    expect(accepts(minimum, { amount: expected - 1n })).toBe(false)
  })

  it.each<readonly [string, Given, bigint, bigint]>([
    ['lamports', { coinDecimals: 9, coinUsd: 150 }, 10_000n, 150n],
    ['nanoTON', { coinDecimals: 9, coinUsd: 2 }, 45_000_000n, 9_000n],
    ['sun', { coinDecimals: 6, coinUsd: 0.3 }, 600_000n, 18_000n],
    ['wei, of a share of one', { gasShare: 1 }, cost1, 300_000n],
    ['wei, rounded up', {}, 1n, 1n],
  ])('follows a cost in %s', (_what, given, cost, expected) => {
    const minimum = create(given)
    expect(accepts(minimum, { cost, amount: expected })).toBe(true)
    expect(accepts(minimum, { cost, amount: expected - 1n })).toBe(false)
  })

  it.each([
    ['of less than one', 0.1, 300_000n],
    ['of more than one', 2, 600_000n],
  ])(
    'that covers the cost is the whole cost at a share %s, also when it is settled',
    (_, gasShare, least) => {
      const minimum = create({ gasShare })
      for (const isForSettle of [false, true]) {
        const refuse = (amount: bigint) =>
          minimum.refuse({ asset: 'USDC', amount, cost: cost1, coversCost: true, isForSettle })
        expect(refuse(least)).toBeNull()
        expect(refuse(least - 1n)).toMatchObject({ reason: 'payment_below_minimum' })
      }
    },
  )

  it('that covers the cost is what the operator says, and none where it is turned off', () => {
    const refuse = (given: Given, amount: bigint) =>
      create(given).refuse({ asset: 'USDC', amount, cost: cost1, coversCost: true, isForSettle: false })
    expect(refuse({ fixed: 20n }, 20n)).toBeNull()
    expect(refuse({ fixed: 20n }, 19n)).not.toBeNull()
    expect(refuse({ gasShare: 0 }, 1n)).toBeNull()
  })

  it.each<readonly [string, Given, { cost?: bigint | null; asset?: string }]>([
    ['with a share of 0', { gasShare: 0 }, {}],
    ['without a price of the coin', { coinUsd: null }, {}],
    ['of a token that is not known', {}, { asset: 'other' }],
    ['while the cost is not known', {}, { cost: null }],
    ['that the operator set to 0', { fixed: 0n }, {}],
  ])('is off %s', (_what, given, payment) => {
    expect(accepts(create(given), { amount: 1n, ...payment })).toBe(true)
  })

  it.each<readonly [string, Given, { cost?: bigint | null; asset?: string }]>([
    ['the cost', {}, {}],
    ['a share of 0', { gasShare: 0 }, {}],
    ['an unknown cost', {}, { cost: null }],
    ['an unknown token', {}, { asset: 'other' }],
    ['a missing price', { coinUsd: null }, {}],
  ])('of the operator counts whatever follows from %s', (_what, given, payment) => {
    const minimum = create({ ...given, fixed: 500n })
    expect(accepts(minimum, { amount: 500n, ...payment })).toBe(true)
    expect(accepts(minimum, { amount: 499n, ...payment })).toBe(false)
  })

  it('lets a payment that verified settle after the price rose, up to twofold', () => {
    const minimum = create()
    expect(accepts(minimum, { amount: 30_000n })).toBe(true)
    expect(accepts(minimum, { amount: 30_000n, cost: 2n * cost1, isForSettle: true })).toBe(true)
    expect(accepts(minimum, { amount: 30_000n, cost: 2n * cost1 + 10n ** 12n, isForSettle: true })).toBe(
      false,
    )
  })

  it('of the operator is the same for verify and settle', () => {
    const minimum = create({ fixed: 500n })
    expect(accepts(minimum, { amount: 499n, isForSettle: true })).toBe(false)
  })

  it('is named in the refusal, with the asset and the network', () => {
    expect(create().refuse({ asset: 'USDC', amount: 7n, cost: cost1, isForSettle: false })).toEqual({
      reason: 'payment_below_minimum',
      message: 'The payment of 7 is lower than 30000, the minimum of USDC on eip155:8453 in smallest units',
    })
  })

  it('is listed for the tokens that have one', () => {
    expect(create().list(['USDC', 'other'], cost1)).toEqual({ USDC: '30000' })
    expect(create().list(['USDC'], null)).toEqual({})
    expect(create().list(['USDC'], 1n)).toEqual({})
    expect(create({ fixed: 500n }).list(['USDC', 'other'], cost1)).toEqual({ USDC: '500', other: '500' })
    expect(create({ fixed: 0n }).list(['USDC'], cost1)).toEqual({})
  })
})

describe('what a payment is worth', () => {
  it.each([false, true])(
    'is the highest cost at which it is not refused, where isForSettle is %s',
    (isForSettle) => {
      const minimum = create()
      for (const amount of [1n, 7n, 30_000n, 10n ** 12n]) {
        const payment = { asset: 'USDC', amount, isForSettle }
        const worth = minimum.findWorth(payment)
        if (worth === null) throw new Error('It has a minimum that follows the cost')
        expect(minimum.refuse({ ...payment, cost: worth })).toBeNull()
        expect(minimum.refuse({ ...payment, cost: worth + worth / 100n + 1n })).not.toBeNull()
      }
    },
  )

  it.each<[string, Given, string]>([
    ['a minimum of the operator', { fixed: 5n }, 'USDC'],
    ['a share of 0', { gasShare: 0 }, 'USDC'],
    ['no price of the coin', { coinUsd: null }, 'USDC'],
    ['another token', {}, 'EURC'],
  ])('has no bound with %s', (_case, given, asset) => {
    expect(create(given).findWorth({ asset, amount: 1n, isForSettle: false })).toBeNull()
  })
})
