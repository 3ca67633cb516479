import { describe, expect, it } from 'vitest'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import type { Reason } from '../../../src/protocol/reasons.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { createSpendingLimits } from '../../../src/usecases/core/limits.js'
import { createManualClock } from '../../support/manualClock.js'
import { toyBody } from '../../support/toyScheme.js'

const paymentOn = (network = 'toy:1', payTo = 'bob') => {
  const payment = readPayment(toyBody('nonce-1', network))
  if (isRefused(payment)) throw new Error(payment.reason)
  return { ...payment, requirements: { ...payment.requirements, payTo } }
}

const setup = (
  settlesPerPayerPerHour: number,
  settlesPerRecipientPerHour: number,
  failures: { readonly perPayer?: number; readonly perRecipient?: number; readonly maxBuckets?: number } = {},
) => {
  const clock = createManualClock()
  const { maxBuckets = 100_000 } = failures
  const limiter = createMemoryRateLimiter({ clock, maxBuckets })
  const { spend, countFailure } = createSpendingLimits(limiter, clock, {
    settlesPerPayerPerHour,
    settlesPerRecipientPerHour,
    failuresPerPayerPerHour: failures.perPayer ?? 0,
    anonymousFailuresPerRecipientPerHour: failures.perRecipient ?? 0,
  })
  const fail = (
    fields: {
      payer: string
      payTo?: string
      caller?: string
      customer?: string
      transaction?: string | null
    },
    reason: Reason = 'transaction_failed',
  ) =>
    countFailure(
      { network: 'toy:1', payTo: 'bob', caller: 'anonymous', transaction: 'tx-1', ...fields },
      reason,
    )
  return { clock, limiter, spend, fail }
}

const by = (payer: string, customer = 'anonymous') => ({ payer, customer })

const refusal = { code: 'RATE_LIMITED', operationalCode: 'SVC-2005' }

describe('the spending limits', () => {
  it('limit a payer until the hour is over', async () => {
    const { clock, spend } = setup(2, 100)
    await spend(paymentOn(), by('alice'))
    await clock.advance(600_000)
    await spend(paymentOn(), by('alice'))
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject({
      ...refusal,
      retryAfterSeconds: 3_000,
    })
    await clock.advance(3_000_000)
    await spend(paymentOn(), by('alice'))
  })

  it('limit a recipient across payers', async () => {
    const { spend } = setup(100, 2)
    await spend(paymentOn(), by('alice'))
    await spend(paymentOn(), by('carol'))
    await expect(spend(paymentOn(), by('dave'))).rejects.toMatchObject(refusal)
    await spend(paymentOn('toy:1', 'erin'), by('dave'))
  })

  it('count each network separately', async () => {
    const { spend } = setup(1, 1)
    await spend(paymentOn('toy:1'), by('alice'))
    await spend(paymentOn('toy:2'), by('alice'))
    await expect(spend(paymentOn('toy:2'), by('alice'))).rejects.toMatchObject(refusal)
  })

  it('are case-insensitive in addresses', async () => {
    const { spend } = setup(1, 1)
    await spend(paymentOn('toy:1', '0xAbC'), by('0xDeF'))
    await expect(spend(paymentOn('toy:1', 'x'), by('0xdEf'))).rejects.toMatchObject(refusal)
    await expect(spend(paymentOn('toy:1', '0xaBc'), by('x'))).rejects.toMatchObject(refusal)
  })

  it('consume from no window if one refuses', async () => {
    const { spend } = setup(1, 2)
    await spend(paymentOn(), by('alice'))
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject(refusal)
    await spend(paymentOn(), by('carol'))
  })

  it.each([
    ['the payer', 0, 1, ['alice', 'alice'], ['bob', 'carol']],
    ['the recipient', 1, 0, ['alice', 'dave'], ['bob', 'bob']],
  ])('are off for %s when they are 0', async (_, perPayer, perRecipient, payers, recipients) => {
    const { spend } = setup(perPayer, perRecipient)
    for (const [index, payer] of payers.entries())
      await spend(paymentOn('toy:1', recipients[index]), by(payer))
  })

  it('do not call the limiter if both are off', async () => {
    const { limiter, spend } = setup(0, 0)
    await spend(paymentOn(), by('alice'))
    expect(limiter.countBuckets()).toBe(0)
  })

  it('set Retry-After to at least one second', async () => {
    const { clock, spend } = setup(1, 1)
    await spend(paymentOn(), by('alice'))
    await clock.advance(3_599_999)
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject({ retryAfterSeconds: 1 })
  })

  it('count each customer by itself: none uses up the windows of another', async () => {
    const { spend } = setup(1, 1)
    await spend(paymentOn(), by('alice', 'tenant-1'))
    await expect(spend(paymentOn(), by('alice', 'tenant-1'))).rejects.toMatchObject(refusal)
    await spend(paymentOn(), by('alice', 'tenant-2'))
    await spend(paymentOn(), by('alice'))
  })

  it('give back a settlement that sent nothing', async () => {
    const { spend } = setup(1, 1)
    const refund = await spend(paymentOn(), by('alice'))
    refund()
    await spend(paymentOn(), by('alice'))
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject(refusal)
  })
})

describe('settlements that failed on chain', () => {
  const failed = { ...refusal, message: 'Too many settlements of this payer or recipient failed on chain' }

  it('stop a payer at the limit, for all recipients, until the hour is over', async () => {
    const { clock, spend, fail } = setup(100, 100, { perPayer: 2 })
    await fail({ payer: 'Alice' })
    await spend(paymentOn(), by('alice'))
    await fail({ payer: 'alice', payTo: 'carol' })
    await expect(spend(paymentOn('toy:1', 'dave'), by('alice'))).rejects.toMatchObject(failed)
    await spend(paymentOn(), by('erin'))
    await clock.advance(3_600_000)
    await spend(paymentOn(), by('alice'))
  })

  it('stop a recipient of callers without a key, and never one of an account', async () => {
    const { spend, fail } = setup(100, 100, { perPayer: 10, perRecipient: 2 })
    for (const payer of ['alice', 'carol']) {
      await fail({ payer })
      await fail({ payer, caller: 'tenant-1' })
    }
    await expect(spend(paymentOn(), by('dave'))).rejects.toMatchObject(failed)
    await spend(paymentOn('toy:1', 'erin'), by('dave'))
    await spend(paymentOn(), by('dave', 'tenant-1'))
  })

  it.each([
    ['caller', { caller: 'tenant-1' }],
    ['customer', { caller: 'a project', customer: 'tenant-1' }],
  ])('count against the %s that had them settled, and no other', async (_who, by1) => {
    const { spend, fail } = setup(100, 100, { perPayer: 1 })
    await fail({ payer: 'alice', ...by1 })
    await expect(spend(paymentOn(), by('alice', 'tenant-1'))).rejects.toMatchObject(failed)
    await spend(paymentOn(), by('alice', 'tenant-2'))
    await spend(paymentOn(), by('alice'))
  })

  it.each<[string, string | null, Reason]>([
    ['expired without having been in a block', 'tx-1', 'authorization_expired_unsettled'],
    ['never recorded a transaction', null, 'transaction_failed'],
  ])('do not include one that %s', async (_, transaction, reason) => {
    const { spend, fail } = setup(100, 100, { perPayer: 1, perRecipient: 1 })
    await fail({ payer: 'alice', transaction }, reason)
    await spend(paymentOn(), by('alice'))
  })

  it('count beyond the limit without an error', async () => {
    const { spend, fail } = setup(100, 100, { perPayer: 1 })
    await fail({ payer: 'alice' })
    await fail({ payer: 'alice' })
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject(failed)
  })
})

describe('failures that were counted', () => {
  it.each([
    ['all at once', [2, 0]],
    ['one before the flood, and one after it', [1, 1]],
  ])('are not forgotten in a flood of other payers: %s', async (_name, [before = 0, after = 0]) => {
    const { spend, fail } = setup(1_000, 1_000, { perPayer: 2, maxBuckets: 50 })
    const failTimes = async (times: number) => {
      for (let time = 0; time < times; time++) await fail({ payer: 'alice' })
    }
    await failTimes(before)
    for (let payer = 0; payer < 200; payer++) await spend(paymentOn(), by(`payer ${payer}`))
    await failTimes(after)
    await expect(spend(paymentOn(), by('alice'))).rejects.toMatchObject(refusal)
  })

  it('count beyond the limit, and for the recipient although the payer is beyond it', async () => {
    const { spend, fail } = setup(1_000, 1_000, { perPayer: 1, perRecipient: 3 })
    for (const _ of [1, 2, 3]) await fail({ payer: 'alice' })
    await expect(spend(paymentOn(), by('carol'))).rejects.toMatchObject(refusal)
  })
})
