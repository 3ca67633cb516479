import { expect, it } from 'vitest'
import { tiers } from '../../src/protocol/tiers.js'

it.each([
  // Tier, quota per month, requests per minute, fee rate, price in cents: the specification's table.
  ['free', 1_000, 10, 0, 0],
  ['builder', 100_000, 100, 0.001, 0],
  ['scale', 1_000_000, 1_000, 0.0008, 9_900],
  ['enterprise', -1, 10_000, 0.0005, 0],
] as const)(
  'the tier %s has the limits and prices of the specification',
  (tier, monthlyQuota, rpmLimit, feeRate, priceCents) => {
    expect(tiers[tier]).toMatchObject({ monthlyQuota, rpmLimit, feeRate, priceCents })
  },
)

it('there are four tiers, each with a display name', () => {
  expect(Object.keys(tiers)).toEqual(['free', 'builder', 'scale', 'enterprise'])
  expect(Object.values(tiers).map(({ name }) => name)).toEqual(['Free', 'Builder', 'Scale', 'Enterprise'])
})
