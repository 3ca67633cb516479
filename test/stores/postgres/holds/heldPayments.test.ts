import { beforeEach, describe, expect, it } from 'vitest'
import { createHourlyBudget } from '../../../../src/chains/common/hourlyBudget.js'
import { createPromisedCost } from '../../../../src/chains/common/promisedCost.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { QuotaClaim } from '../../../../src/ports/quotas.js'
import type { Requester } from '../../../../src/ports/rateLimiter.js'
import { isRefused, readPayment } from '../../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../../src/schemes/registry.js'
import type { Authorized, Hold, Outcome } from '../../../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../../../src/stores/cache/rateLimiter.js'
import { createHolds } from '../../../../src/stores/postgres/holds/holds.js'
import { createIdempotencyStore } from '../../../../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSettlePayment } from '../../../../src/usecases/core/settle/settlePayment.js'
import { createHoldAuthorization, createHoldFunds } from '../../../../src/usecases/core/verify/holdFunds.js'
import { createVerifyPayment } from '../../../../src/usecases/core/verify/verifyPayment.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { createManualClock } from '../../../support/manualClock.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { createUnlimitedSettle } from '../../../support/settleAuthorization.js'
import { createToyScheme, toyAuthorized } from '../../../support/toyScheme.js'

/* Two instances that share a database; payers have 25000 and sign 10000. */

const database = useTestDatabase()
usePatientQueues()
beforeEach(async () => {
  await emptyTables(
    database.pool,
    'consumed_authorizations',
    'settlements',
    'instances',
    'reservations',
    'quota_uses',
  )
})

const openInstance = async (
  pool = database.pool,
  settled: Outcome['state'] = 'confirmed',
  hold: Partial<Hold> = {},
  limits: Pick<Authorized, 'checkPromise'> = {},
) => {
  const instance = await addInstance(pool)
  const journal = createSettlementJournal(pool, instance)
  const spenders: unknown[] = []
  const scheme = createToyScheme({
    kind: { scheme: 'upto', network: 'toy:1' },
    verify: async (payment) =>
      toyAuthorized(payment, {
        authorizedAmount: 10_000n,
        amount: payment.settleAmount ?? 10_000n,
        hold: { spender: 'router', balance: 25_000n, allowance: null, ...hold },
        ...limits,
        settle: async (recorder, { caller }) => {
          spenders.push(caller)
          const transaction = `transaction of ${recorder.settlementId}`
          await recorder.record({ transaction, bytes: `bytes of ${recorder.settlementId}` })
          if (settled === 'failed') return { state: 'failed', reason: 'transaction_failed', transaction }
          return { state: settled, transaction }
        },
      }),
  })
  const registry = createSchemeRegistry([scheme])
  const holdFunds = createHoldFunds({ holds: createHolds(pool), clock: systemClock })
  const shared = { registry, journal, holdFunds, logger: silentLogger }
  const verifyPayment = createVerifyPayment({
    ...shared,
    quotaGate: async () => null,
    deadlineMs: waitLimitMs,
  })
  const settlePayment = createSettlePayment({
    idempotency: createIdempotencyStore(pool, instance),
    settleAuthorization: createUnlimitedSettle(shared),
    logger: silentLogger,
  })
  const body = (nonce: string, settleAmount?: string) =>
    wirePaymentRequest.parse({
      paymentPayload: { scheme: 'upto', network: 'toy:1', payload: { from: 'alice', nonce } },
      paymentRequirements: {
        scheme: 'upto',
        network: 'toy:1',
        maxAmount: '10000',
        asset: 'gold',
        payTo: 'bob',
        maxTimeoutSeconds: 3_600,
      },
      ...(settleAmount === undefined ? {} : { settleAmount }),
    })
  const caller = { caller: 'anonymous', quota: null, idempotencyKey: null, isAwaited: () => true }
  const settleAuthorization = createUnlimitedSettle(shared)
  const holdAuthorization = createHoldAuthorization(shared)
  const paymentOf = (nonce: string, amount?: string) => {
    const payment = readPayment(body(nonce, amount))
    if (isRefused(payment)) throw new Error(payment.reason)
    return payment
  }
  const later = () => new Date(Date.now() + 3_600_000)
  return {
    /** Whose parts of a budget settlements used. */
    spenders,
    hold: (
      nonce: string,
      purpose = 'stream:1',
      by: { readonly caller: string; readonly requester?: Requester } = { caller: 'anonymous' },
    ) =>
      holdAuthorization({
        payment: paymentOf(nonce),
        ...by,
        purpose,
        findEnd: later,
        isAwaited: () => true,
        isNew: true,
      }),
    settleAs: (purpose: string, nonce: string, amount: string, quota: QuotaClaim | null = null) =>
      settleAuthorization({
        payment: paymentOf(nonce, amount),
        caller: quota?.accountId ?? 'anonymous',
        quota,
        fingerprint: purpose,
        consumer: purpose,
        holdPurpose: purpose,
      }),
    settleOverQuota: (nonce: string, amount: string) =>
      settleAuthorization({
        payment: paymentOf(nonce, amount),
        caller: 'shop',
        quota: { accountId: 'shop', tier: { monthlyQuota: 0, feeRate: 0 } },
        fingerprint: nonce,
        consumer: nonce,
      }),
    verify: async (nonce: string, as = 'anonymous', quota: QuotaClaim | null = null) =>
      (await verifyPayment({ body: body(nonce), ...caller, caller: as, quota })).isValid,
    settle: async (nonce: string, amount: string, as = 'anonymous') =>
      (await settlePayment({ body: body(nonce, amount), ...caller, caller: as })).result,
  }
}

describe('payments that were verified', () => {
  it('are two of fifty at once on two instances, and both can be settled', async () => {
    const instances = [await openInstance(), await openInstance(database.otherPool)] as const
    const nonces = Array.from({ length: 50 }, (_, index) => `n${index}`)
    const verdicts = await Promise.all(
      nonces.map((nonce, index) => instances[index % 2 === 0 ? 0 : 1].verify(nonce)),
    )
    const valid = nonces.filter((_, index) => verdicts[index])
    expect(valid).toHaveLength(2)
    for (const nonce of valid) {
      expect(await instances[0].settle(nonce, '7000')).toMatchObject({ success: true, settledAmount: '7000' })
    }
  })

  it.each(['7000', '0'])('make room for others once they are settled with %s', async (amount) => {
    const { verify, settle } = await openInstance()
    expect([await verify('a'), await verify('b'), await verify('c')]).toEqual([true, true, false])
    expect(await settle('a', amount)).toMatchObject({ success: true })
    expect([await verify('c'), await verify('d')]).toEqual([true, false])
  })

  it('make room for others once their settlement failed', async () => {
    const { verify, settle } = await openInstance(database.pool, 'failed')
    expect([await verify('a'), await verify('b'), await verify('c')]).toEqual([true, true, false])
    expect(await settle('a', '1')).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    expect(await verify('c')).toBe(true)
  })

  it('hold what is charged while their settlement is pending', async () => {
    const { verify, settle } = await openInstance(database.pool, 'pending')
    expect([await verify('a'), await verify('b')]).toEqual([true, true])
    expect(await settle('a', '9000')).toMatchObject({ errorReason: 'settlement_pending' })
    expect(await verify('c')).toBe(false)
  })
})

describe('what is promised to an account that can have one settlement promised', () => {
  const openBudgeted = async (settled: Outcome['state'] = 'confirmed') => {
    const { pool } = database
    const clock = createManualClock()
    const { countPromised } = createHolds(pool)
    const promised = createPromisedCost({
      count: () => countPromised('toy:1'),
      costOfOne: () => 10,
      clock,
    })
    const limiter = createMemoryRateLimiter({ clock })
    const terms = { network: 'toy:1', purpose: 'gas', key: 'gas', limit: 300, promised }
    const { checkPromise } = createHourlyBudget(limiter, terms)
    return { ...(await openInstance(pool, settled, {}, { checkPromise })), clock }
  }
  const spent = { operationalCode: 'SVC-3002' }

  it('is verified again, and nothing beside it', async () => {
    const { verify } = await openBudgeted()
    expect(await verify('n1', 'shop')).toBe(true)
    await expect(verify('n2', 'shop')).rejects.toMatchObject(spent)
    expect(await verify('n1', 'shop')).toBe(true)
    expect(await verify('n2', 'rival')).toBe(true)
  })

  it('is one settlement of all accounts of its customer', async () => {
    const { verify, clock } = await openBudgeted()
    const as = (accountId: string, nonce: string) =>
      verify(nonce, accountId, { accountId, customer: 'mailbox-1', tier: { monthlyQuota: -1, feeRate: 0 } })
    expect(await as('shop', 'n1')).toBe(true)
    await expect(as('stall', 'n2')).rejects.toMatchObject(spent)
    // What the database counts by then.
    await clock.advance(1_100)
    await expect(as('stall', 'n2')).rejects.toMatchObject(spent)
    expect(await as('shop', 'n1')).toBe(true)
    expect(await verify('n2', 'rival')).toBe(true)
  })

  it('uses the part of a budget under which it was promised, also where a stream ends', async () => {
    const { hold, settleAs, spenders } = await openBudgeted()
    const name = 'unproven 192.0.2.1'
    expect(await hold('n1', 'stream:1', { caller: 'shop', requester: { name, site: null } })).toMatchObject({
      isValid: true,
    })
    const quota = { accountId: 'shop', customer: 'mailbox-1', tier: { monthlyQuota: -1, feeRate: 0 } }
    expect(await settleAs('stream:1', 'n1', '10000', quota)).toMatchObject({ success: true })
    expect(spenders).toEqual([name])
  })

  it('is verified while it is settled, whatever was promised since', async () => {
    const { verify, settle, clock } = await openBudgeted('pending')
    expect(await verify('n1', 'shop')).toBe(true)
    expect(await settle('n1', '10000', 'shop')).toMatchObject({ errorReason: 'settlement_pending' })
    await clock.advance(1_100)
    expect(await verify('n2', 'shop')).toBe(true)
    expect(await verify('n1', 'shop')).toBe(true)
  })

  it('does not include what could not be held', async () => {
    const { verify } = await openBudgeted()
    expect(await verify('n1', 'rival')).toBe(true)
    expect(await verify('n1', 'shop')).toBe(false)
    expect(await verify('n2', 'shop')).toBe(true)
  })
})

it('a payment is verified for an account or settled by another caller, where both ask two instances at once', async () => {
  const [first, second] = [await openInstance(), await openInstance(database.otherPool)]
  const outcomes = new Set<boolean>()
  const verifyLater = async (nonce: string, queries: number) => {
    for (let query = 0; query < queries; query++) await database.pool.query('select 1')
    return await first.verify(nonce, 'shop')
  }
  // It goes on until each of them was first at times, as otherwise the race is not tried.
  for (let round = 0; round < 40 || outcomes.size < 2; round++) {
    // A settle claims after some queries, which one takes as long as many of these.
    const verifying = verifyLater(`n${round}`, (round % 40) * Math.ceil((round + 1) / 40))
    const [isVerified, settled] = await Promise.all([verifying, second.settle(`n${round}`, '0')])
    expect([isVerified, settled.success].filter(Boolean)).toHaveLength(1)
    outcomes.add(isVerified)
    await emptyTables(database.pool, 'reservations')
  }
})

it('a payment that does not fit cannot be settled without a verify either', async () => {
  const { verify, settle } = await openInstance()
  expect([await verify('a'), await verify('b')]).toEqual([true, true])
  expect(await settle('c', '9000')).toMatchObject({
    success: false,
    errorReason: 'insufficient_funds',
    errorMessage: expect.stringContaining('hold 20000 of it'),
  })
})

it('a payment whose settle is over quota leaves its funds to other merchants', async () => {
  const { settleOverQuota, verify } = await openInstance()
  for (const nonce of ['a', 'b']) {
    await expect(settleOverQuota(nonce, '10000')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  }
  expect([await verify('c', 'other'), await verify('d', 'other')]).toEqual([true, true])
})

describe('payments of an account that settles twice at once, over its quota', () => {
  const readHolds = async () =>
    (await database.pool.query('select holder, amount::text, expires_at from reservations')).rows
  const settleTwice = async () => {
    const instances = [await openInstance(), await openInstance(database.otherPool)]
    const settled = instances.map(({ settleOverQuota }) => settleOverQuota('a', '10000'))
    const failures = await Promise.all(settled.map((each) => each.catch((error: unknown) => error)))
    expect(failures).toEqual(Array(2).fill(expect.objectContaining({ code: 'QUOTA_EXCEEDED' })))
  }

  it('stay reserved as they were verified, for no longer', async () => {
    const { verify } = await openInstance()
    expect(await verify('a', 'shop')).toBe(true)
    await database.pool.query("update reservations set expires_at = now() + interval '30 minutes'")
    const verified = await readHolds()
    await settleTwice()
    expect(await readHolds()).toEqual(verified)
  })

  it('leave nothing reserved if they were not verified', async () => {
    await settleTwice()
    expect(await readHolds()).toEqual([])
  })
})

describe('an authorization that a stream holds', () => {
  const duplicate = { success: false, errorReason: 'duplicate_settlement' }

  it('is neither verified nor settled beside it, not even with 0', async () => {
    const { hold, verify, settle } = await openInstance()
    expect(await hold('a')).toMatchObject({ isValid: true, amount: 10_000n })
    expect(await verify('a')).toBe(false)
    expect(await settle('a', '0')).toMatchObject(duplicate)
    expect(await settle('a', '7000')).toMatchObject(duplicate)
  })

  it('is settled by the stream, once', async () => {
    const { hold, settleAs } = await openInstance()
    await hold('a')
    expect(await settleAs('stream:2', 'a', '7000')).toMatchObject(duplicate)
    expect(await settleAs('stream:1', 'a', '7000')).toMatchObject({ success: true, settledAmount: '7000' })
    expect(await settleAs('stream:1', 'a', '7000')).toMatchObject({ success: true, settledAmount: '7000' })
    expect(await settleAs('stream:2', 'a', '7000')).toMatchObject(duplicate)
  })

  it('is kept from another stream by that stream, which the refusal names until it is settled', async () => {
    const { hold, settleAs } = await openInstance(database.pool)
    await hold('a')
    expect(await hold('a', 'stream:2')).toMatchObject({ reason: 'duplicate_settlement', takenBy: 'stream' })
    await settleAs('stream:1', 'a', '7000')
    expect(await hold('a', 'stream:2')).not.toHaveProperty('takenBy')
  })

  it.each(['confirmed', 'pending'] as const)('was not settled before: %s', async (state) => {
    const { hold, settle } = await openInstance(database.pool, state)
    await settle('a', '1')
    expect(await hold('a')).toMatchObject({ isValid: false, reason: 'duplicate_settlement' })
  })

  it('does not depend on a grant of the settlement, which can end during the stream', async () => {
    const { hold, verify } = await openInstance(database.pool, 'confirmed', { isGrantedAtSettle: true })
    expect(await hold('a')).toMatchObject({ isValid: false, reason: 'permit2_allowance_required' })
    expect(await verify('a')).toBe(true)
  })

  it('may have failed before', async () => {
    const { hold, settle } = await openInstance(database.pool, 'failed')
    await settle('a', '1')
    expect(await hold('a')).toMatchObject({ isValid: true })
  })

  it('stays held after a settlement of the stream failed', async () => {
    const { hold, settleAs, settle, verify } = await openInstance(database.pool, 'failed')
    await hold('a')
    expect(await settleAs('stream:1', 'a', '7000')).toMatchObject({ errorReason: 'transaction_failed' })
    for (const amount of ['0', '10000']) expect(await settle('a', amount)).toMatchObject(duplicate)
    expect(await verify('a')).toBe(false)
    const next = await openInstance()
    expect(await next.settleAs('stream:1', 'a', '7000')).toMatchObject({ success: true })
  })

  it('goes to the stream or to the settlement where both ask at once', async () => {
    const [first, second] = [await openInstance(), await openInstance(database.otherPool)]
    for (let round = 0; round < 20; round++) {
      const [held, settled] = await Promise.all([first.hold(`n${round}`), second.settle(`n${round}`, '1')])
      expect([held.isValid, settled.success].filter(Boolean)).toHaveLength(1)
      await emptyTables(database.pool, 'reservations')
    }
  })
})
