import { describe, expect, it } from 'vitest'
import { isRefused, readPayment } from '../../../src/protocol/legacy.js'
import { createMemoryRateLimiter } from '../../../src/stores/memory/rateLimiter.js'
import { createSpendingLimits } from '../../../src/usecases/core/spendingLimits.js'
import { createManualClock } from '../../support/manualClock.js'
import { toyBody } from '../../support/toyScheme.js'

const paymentOn = (network = 'toy:1', payTo = 'bob') => {
  const payment = readPayment(toyBody('nonce-1', network))
  if (isRefused(payment)) throw new Error(payment.reason)
  return { ...payment, requirements: { ...payment.requirements, payTo } }
}

const setup = (settlesPerPayerPerHour: number, settlesPerRecipientPerHour: number) => {
  const clock = createManualClock()
  const limiter = createMemoryRateLimiter({ clock })
  const { spend } = createSpendingLimits(limiter, clock, {
    settlesPerPayerPerHour,
    settlesPerRecipientPerHour,
  })
  return { clock, limiter, spend }
}

const by = (payer: string, caller = 'anonymous') => ({ payer, caller })

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

  it('count each caller by itself: no caller uses up the windows of another', async () => {
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
