import { describe, expect, it } from 'vitest'
import type { QuotaClaim } from '../../../src/ports/quotas.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { fingerprintRequest } from '../../../src/usecases/core/fingerprint.js'
import { createQuotaGate } from '../../../src/usecases/core/quotaGate.js'
import { createVerifyPayment } from '../../../src/usecases/core/verifyPayment.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createToyScheme, toyAuthorized, toyBody } from '../../support/toyScheme.js'

const free: QuotaClaim = { accountId: 'ada', tier: 'free' }

const setup = (readUsed: (accountId: string) => Promise<number>) => {
  const clock = createManualClock(new Date('2026-05-31T23:00:00Z'))
  const logger = createMemoryLogger()
  const asked: string[] = []
  const gate = createQuotaGate({
    quotas: {
      readUse: async (accountId, now) => {
        asked.push(accountId)
        return { monthStartsAt: now, used: await readUsed(accountId) }
      },
      listDays: async () => [],
    },
    clock,
    logger,
  })
  const journal = createMemoryJournal()
  let judged = 0
  const verify = createVerifyPayment({
    registry: createSchemeRegistry([
      createToyScheme({
        verify: async (payment) => {
          judged += 1
          return toyAuthorized(payment)
        },
      }),
    ]),
    journal,
    quotaGate: gate,
    logger,
    deadlineMs: 5_000,
  })
  const ask = (quota: QuotaClaim | null = free) =>
    verify({ body: toyBody(), caller: quota?.accountId ?? 'anonymous', quota, isAwaited: () => true })
  return { clock, logger, asked, gate, journal, ask, countJudged: () => judged }
}

describe('verify for an account', () => {
  it('is refused when the month is used up, until the next one, and asks no chain', async () => {
    const { ask, countJudged } = setup(async () => 1_000)
    await expect(ask()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 3_600 })
    expect(countJudged()).toBe(0)
  })

  it('is judged while something is left', async () => {
    const { ask } = setup(async () => 999)
    expect(await ask()).toMatchObject({ isValid: true })
  })

  it('is judged by the limit of its tier, and reads nothing where there is none', async () => {
    const { ask, asked } = setup(async () => 1_000)
    expect(await ask({ accountId: 'ada', tier: 'builder' })).toMatchObject({ isValid: true })
    expect(await ask({ accountId: 'bob', tier: 'enterprise' })).toMatchObject({ isValid: true })
    expect(asked).toEqual(['ada'])
  })

  it('of a payment whose settlement it has begun is judged all the same: that uses nothing more', async () => {
    const { ask, journal } = setup(async () => 1_000)
    const fingerprint = fingerprintRequest(toyBody())
    const { id } = journal.put({ caller: 'ada', fingerprint, state: 'pending' })
    expect(await ask()).toMatchObject({ isValid: true })
    journal.change(id, { caller: 'bob' })
    await expect(ask()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  })

  it('reads the use of an account once a second at most', async () => {
    const { ask, asked, clock } = setup(async () => 1)
    await Promise.all([ask(), ask(), ask()])
    await clock.advance(999)
    await ask()
    expect(asked).toEqual(['ada'])
    await clock.advance(1)
    await ask()
    expect(asked).toEqual(['ada', 'ada'])
  })

  it('goes on when the database does not answer: nothing moves here', async () => {
    const { ask, logger } = setup(() => Promise.reject(new Error('down')))
    expect(await ask()).toMatchObject({ isValid: true })
    expect(logger.messages()).toContain('quota.read_failed')
  })

  it('waits for a silent database for half a second, once for all', async () => {
    const { ask } = setup(() => new Promise(() => undefined))
    const startedAt = performance.now()
    expect(await Promise.all([ask(), ask()])).toMatchObject([{ isValid: true }, { isValid: true }])
    expect(await ask()).toMatchObject({ isValid: true })
    expect(performance.now() - startedAt).toBeLessThan(950)
  })
})

it('a caller without an account has no quota', async () => {
  const { ask, asked } = setup(async () => 1_000)
  expect(await ask(null)).toMatchObject({ isValid: true })
  expect(asked).toEqual([])
})
