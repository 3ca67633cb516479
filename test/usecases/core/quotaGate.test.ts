import { describe, expect, it } from 'vitest'
import type { QuotaClaim } from '../../../src/ports/quotas.js'
import { tiers } from '../../../src/protocol/tiers.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { fingerprintRequest } from '../../../src/usecases/core/idempotency/fingerprint.js'
import { createQuotaGate } from '../../../src/usecases/core/limits.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme, toyAuthorized, toyBody } from '../../support/toyScheme.js'

const free: QuotaClaim = { accountId: 'ada', tier: tiers.free }

const setup = (readUsed: (accountId: string) => Promise<number>) => {
  const clock = createManualClock(new Date('2026-05-31T23:00:00Z'))
  const logger = createMemoryLogger()
  const accountsRead: string[] = []
  const gate = createQuotaGate({
    quotas: {
      readUse: async (accountId, now) => {
        accountsRead.push(accountId)
        return { monthStartsAt: now, used: await readUsed(accountId) }
      },
      listDays: async () => [],
    },
    clock,
    logger,
  })
  const journal = createMemoryJournal()
  let verified = 0
  const verify = createVerifyPayment({
    holdFunds: async (_payment, verdict) => verdict,
    registry: createSchemeRegistry([
      createToyScheme({
        verify: async (payment) => {
          verified += 1
          return toyAuthorized(payment)
        },
      }),
    ]),
    journal,
    quotaGate: gate,
    logger,
    deadlineMs: waitLimitMs,
  })
  const verifyAs = (quota: QuotaClaim | null = free) =>
    verify({ body: toyBody(), caller: quota?.accountId ?? 'anonymous', quota, isAwaited: () => true })
  return { clock, logger, accountsRead, gate, journal, verifyAs, countVerified: () => verified }
}

describe('verify for an account', () => {
  it('is rejected when the month is used up, until the next month, without chain reads', async () => {
    const { verifyAs, countVerified } = setup(async () => 1_000)
    await expect(verifyAs()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 3_600 })
    expect(countVerified()).toBe(0)
  })

  it('is verified while quota is left', async () => {
    const { verifyAs } = setup(async () => 999)
    expect(await verifyAs()).toMatchObject({ isValid: true })
  })

  it('applies the quota of its tier, and reads no usage for unlimited tiers', async () => {
    const { verifyAs, accountsRead } = setup(async () => 1_000)
    expect(await verifyAs({ accountId: 'ada', tier: tiers.builder })).toMatchObject({ isValid: true })
    expect(await verifyAs({ accountId: 'bob', tier: tiers.enterprise })).toMatchObject({ isValid: true })
    expect(accountsRead).toEqual(['ada'])
  })

  it('of a payment that it has already claimed is verified: that uses no more quota', async () => {
    const { verifyAs, journal } = setup(async () => 1_000)
    const fingerprint = fingerprintRequest(toyBody())
    const { id } = journal.put({ caller: 'ada', fingerprint, state: 'pending' })
    expect(await verifyAs()).toMatchObject({ isValid: true })
    journal.change(id, { caller: 'bob' })
    await expect(verifyAs()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })

  it('reads the usage of an account at most once per second', async () => {
    const { verifyAs, accountsRead, clock } = setup(async () => 1)
    await Promise.all([verifyAs(), verifyAs(), verifyAs()])
    await clock.advance(999)
    await verifyAs()
    expect(accountsRead).toEqual(['ada'])
    await clock.advance(1)
    await verifyAs()
    expect(accountsRead).toEqual(['ada', 'ada'])
  })

  it('passes if the database is unavailable: no funds move', async () => {
    const { verifyAs, logger } = setup(() => Promise.reject(new Error('down')))
    expect(await verifyAs()).toMatchObject({ isValid: true })
    expect(logger.messages()).toContain('quota.read_failed')
  })

  it('does not wait for an unresponsive database for long, and once for concurrent requests', async () => {
    const { verifyAs, accountsRead } = setup(() => new Promise(() => undefined))
    expect(await Promise.all([verifyAs(), verifyAs()])).toMatchObject([{ isValid: true }, { isValid: true }])
    expect(await verifyAs()).toMatchObject({ isValid: true })
    expect(accountsRead).toEqual(['ada'])
  })
})

it('a caller without an account has no quota', async () => {
  const { verifyAs, accountsRead } = setup(async () => 1_000)
  expect(await verifyAs(null)).toMatchObject({ isValid: true })
  expect(accountsRead).toEqual([])
})
