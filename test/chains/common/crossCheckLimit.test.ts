import { describe, expect, it } from 'vitest'
import { createCrossCheckLimit } from '../../../src/chains/common/crossCheckLimit.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { readDirectBody } from '../../support/directScheme.js'
import { createToyScheme, toyAuthorized, toyBody } from '../../support/toyScheme.js'

const alone = [{ host: 'a.example' }, { host: 'a.example' }]
const two = [{ host: 'a.example' }, { host: 'b.example' }]

interface Given {
  readonly amount: bigint
  readonly atStake?: bigint
  readonly decimals?: number | null
  readonly endpoints?: typeof alone
  readonly isRequired?: boolean
  readonly isAdmitted?: boolean
}

const reasonOf = async ({
  amount,
  atStake,
  decimals = 6,
  endpoints = alone,
  isRequired = true,
  isAdmitted,
}: Given) => {
  const scheme = createToyScheme({
    verify: async (payment) =>
      toyAuthorized(payment, { amount, ...(atStake === undefined ? {} : { atStake }) }),
    describeAsset: async (asset) => ({ asset: asset ?? 'gold', decimals, extra: {} }),
  })
  const checked = createCrossCheckLimit({
    endpoints,
    crossCheckAmount: 1_000n,
    isRequired,
    logger: silentLogger,
  }).apply(scheme)
  const verdict = await checked.verify(readDirectBody(toyBody()), {
    isAwaited: () => true,
    ...(isAdmitted === undefined ? {} : { isAdmitted }),
  })
  return verdict.isValid ? 'valid' : verdict.reason
}

describe('the amount that two hosts must confirm', () => {
  it.each<[string, Given, string]>([
    ['below it', { amount: 999n }, 'valid'],
    ['at it', { amount: 1_000n }, 'cross_check_unavailable'],
    ['that moves nothing, and holds as much', { amount: 0n, atStake: 1_000n }, 'cross_check_unavailable'],
    ['at it, with two hosts', { amount: 1_000n, endpoints: two }, 'valid'],
    ['at it, admitted before', { amount: 1_000n, isAdmitted: true }, 'valid'],
    ['at it, where the operator accepts one', { amount: 1_000n, isRequired: false }, 'valid'],
    ['of unknown decimals', { amount: 1_000n, decimals: null }, 'cross_check_unavailable'],
    ['of fewer decimals', { amount: 1_000n, decimals: 2 }, 'cross_check_unavailable'],
    ['below it with 18 decimals', { amount: 10n ** 15n - 1n, decimals: 18 }, 'valid'],
    ['at it with 18 decimals', { amount: 10n ** 15n, decimals: 18 }, 'cross_check_unavailable'],
  ])('judges a payment %s', async (_name, given, reason) => {
    expect(await reasonOf(given)).toBe(reason)
  })

  it('leaves the rest of the scheme as it is', () => {
    const scheme = createToyScheme()
    const { apply } = createCrossCheckLimit({
      endpoints: alone,
      crossCheckAmount: 1n,
      isRequired: true,
      logger: silentLogger,
    })
    const { verify, ...rest } = apply(scheme)
    expect({ ...rest, verify: scheme.verify }).toEqual(scheme)
    expect(verify).not.toBe(scheme.verify)
  })
})
