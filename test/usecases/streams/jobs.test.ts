import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import type { Stream } from '../../../src/ports/streamStore.js'
import type { Reason } from '../../../src/protocol/reasons.js'
import type { SettleResult } from '../../../src/protocol/results.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Verification } from '../../../src/schemes/scheme.js'
import type { SettleAttempt } from '../../../src/usecases/core/settle/settlementContext.js'
import { createCheckFunds } from '../../../src/usecases/streams/checkFunds.js'
import { createCloseStreams } from '../../../src/usecases/streams/closeStreams.js'
import { createSettleStream } from '../../../src/usecases/streams/settleStream.js'
import { claimOf } from '../../support/claimOf.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createMemoryStreams } from '../../support/memoryStreams.js'
import { streamOf } from '../../support/streamOf.js'
import { createToyScheme, toyAuthorized } from '../../support/toyScheme.js'

const start = new Date('2026-01-01T00:10:00Z')
const stopped = new AbortController().signal

const terms = {
  scheme: 'upto',
  network: 'toy:1',
  asset: 'gold',
  payTo: 'bob',
  maxTimeoutSeconds: 60,
  maxAmount: '10000',
}
const payment = {
  paymentPayload: { scheme: 'upto', network: 'toy:1', payload: { from: 'alice', nonce: 'n1' } },
  paymentRequirements: terms,
}

type Attempt = (attempt: SettleAttempt) => Promise<SettleResult>

const refuse =
  (errorReason: Reason): Attempt =>
  async () => ({ success: false, errorReason, transaction: '', network: 'toy:1' })

const chainIsDown: Attempt = async () => {
  throw new Error('The chain does not answer')
}

/** `aheadMs`: of block times. */
const setup = (attempt: Attempt, aheadMs = 0) => {
  const clock = createManualClock(start)
  const store = createMemoryStreams(payment)
  const journal = createMemoryJournal()
  const logger = createMemoryLogger()
  const released: string[] = []
  const attempts: SettleAttempt[] = []
  const script = { attempt }
  const shared = {
    store,
    releaseHold: async ({ id }: Pick<Stream, 'id'>) => void released.push(id),
    clock: { ...clock, now: () => new Date(clock.now().getTime() + aheadMs) },
    logger,
  }
  const settleStream = createSettleStream({
    ...shared,
    processClock: clock,
    unsignedForMs: 86_400_000,
    journal,
    registry: {
      ...createSchemeRegistry([]),
      find: (scheme, network) => createToyScheme({ kind: { scheme, network } }),
    },
    settleAuthorization: async (each) => {
      attempts.push(each)
      return await script.attempt(each)
    },
  })
  const closeStreams = createCloseStreams({ ...shared, settleStream })
  /** One round of the job, and what it left under way. */
  const round = async () => {
    const running = closeStreams.run(stopped)
    await drainEventLoop()
    await clock.advance(1_000)
    await running
  }
  let sent = 0
  /** Settles as the journal would have it. */
  const settleIn = async (stream: Stream, fingerprint = `stream:${stream.id}`) => {
    const { authorizationId, finalAmount, maxAmount } = stream
    const amount = finalAmount ?? 0n
    const claim = claimOf({ authorizationId, fingerprint, amount, authorizedAmount: maxAmount })
    const row = await journal.claim(claim)
    if (row === null) throw new Error('The authorization is settled already')
    sent += 1
    const transaction = `tx-${sent}`
    await journal.recorderFor(row.id).record({ transaction, bytes: 'bytes' })
    await journal.close(row.id, { state: 'confirmed', transaction, settledAmount: amount })
    return row.id
  }
  return {
    clock,
    store,
    journal,
    logger,
    released,
    attempts,
    script,
    settleStream,
    closeStreams,
    round,
    settleIn,
  }
}

const closing = (change: Partial<Stream> = {}): Stream =>
  streamOf({ state: 'closing', amount: 500n, finalAmount: 500n, attendAt: start, ...change })

describe('the job that closes streams', () => {
  it.each([
    'invalid_batch_settlement_evm_authorizer_not_configured',
    'invalid_batch_settlement_evm_claim_authorizer_signature',
  ] as const)('gives up one that the receiver has not signed a day after its close: %s', async (reason) => {
    const { store, clock, round, released } = setup(refuse(reason))
    const stream = closing({ updatedAt: start, settlesUntil: new Date(start.getTime() + 7 * 86_400_000) })
    store.put(stream)
    await round()
    await clock.advance(86_000_000)
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'closing', reason })
    await clock.advance(86_400_000)
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason })
    expect(released).toEqual([stream.id])
  })

  it('gives up none a day after its close whose chain says something else', async () => {
    const { store, clock, round } = setup(refuse('insufficient_funds'))
    const stream = closing({ updatedAt: start, settlesUntil: new Date(start.getTime() + 7 * 86_400_000) })
    store.put(stream)
    for (let each = 0; each < 3; each++) {
      await round()
      await clock.advance(86_400_000)
    }
    expect(store.get(stream.id)).toMatchObject({ state: 'closing' })
  })

  it.each(['authorization_expired', 'permit_expired', 'permit2_deadline_expired'] as const)(
    'ends none unpaid because a block time is wrong and says %s',
    async (reason) => {
      const { store, clock, round } = setup(refuse(reason), 600_000)
      const stream = closing({ settlesUntil: new Date(start.getTime() + 60_000) })
      store.put(stream)
      for (let each = 0; each < 5; each++) {
        await round()
        await clock.advance(2_000)
      }
      expect(store.get(stream.id)).toMatchObject({ state: 'closing' })
      await clock.advance(60_000)
      await round()
      expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason })
    },
  )

  it('settles what was used, under a name that is the same for every attempt', async () => {
    const { store, round, attempts, script, settleIn } = setup(chainIsDown)
    const stream = streamOf({
      amount: 500n,
      closesAt: start,
      quota: { customer: 'mailbox', feeRate: 0.001 },
    })
    store.put(stream)
    script.attempt = async () => {
      await settleIn(store.get(stream.id))
      return { success: true, transaction: 'tx-1', network: 'toy:1' }
    }
    await round()
    expect(store.get(stream.id)).toMatchObject({
      state: 'closed',
      settledAmount: 500n,
      transaction: 'tx-1',
    })
    const name = `stream:${stream.id}`
    expect(attempts).toMatchObject([
      {
        payment: { settleAmount: 500n },
        caller: 'account',
        fingerprint: name,
        consumer: name,
        holdPurpose: name,
        holdUntil: stream.settlesUntil,
        isAdmitted: true,
        quota: { customer: 'mailbox', tier: { monthlyQuota: -1, feeRate: 0.001 } },
      },
    ])
  })

  it('ends a stream of which nothing was used without a settlement, and gives the funds back', async () => {
    const { store, round, attempts, released } = setup(chainIsDown)
    const stream = streamOf({ closesAt: start, state: 'paused' })
    store.put(stream)
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'expired', closedAt: start })
    expect(attempts).toEqual([])
    expect(released).toEqual([stream.id])
  })

  it('finds a settlement that was sent before a crash, and does not send another', async () => {
    const { store, round, settleIn } = setup(refuse('duplicate_settlement'))
    const stream = closing()
    store.put(stream)
    const settlementId = await settleIn(stream)
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'closed', settlementId, settledAmount: 500n })
  })

  it('waits for a settlement whose outcome is not known', async () => {
    const { store, journal, round, attempts, clock } = setup(refuse('settlement_pending'))
    const stream = closing({ settlesUntil: start })
    store.put(stream)
    const { authorizationId } = stream
    const row = await journal.claim(claimOf({ authorizationId, fingerprint: `stream:${stream.id}` }))
    const id = row?.id ?? ''
    await journal.recorderFor(id).record({ transaction: 'tx-1', bytes: 'bytes' })
    await journal.release(id)
    for (let index = 0; index < 5; index += 1) {
      await round()
      await clock.advance(60_000)
    }
    expect(store.get(stream.id)).toMatchObject({ state: 'closing', settlementId: id, attempts: 5 })
    expect(attempts).toEqual([])
    await journal.close(id, { state: 'confirmed', transaction: 'tx-1' })
    await round()
    expect(store.get(stream.id).state).toBe('closed')
  })

  it('retries less and less often while the chain is down, until the authorization has ended', async () => {
    const { store, round, attempts, clock, released } = setup(chainIsDown)
    const stream = closing({ settlesUntil: new Date(start.getTime() + 600_000) })
    store.put(stream)
    for (let second = 0; second < 120; second += 2) {
      await round()
      await clock.advance(1_000)
    }
    expect(attempts.length).toBeGreaterThan(4)
    expect(attempts.length).toBeLessThan(10)
    expect(store.get(stream.id)).toMatchObject({ state: 'closing', reason: null })
    await clock.advance(600_000)
    await round()
    expect(store.get(stream.id)).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired_unsettled',
    })
    expect(released).toEqual([stream.id])
  })

  it('is not given up by three requests to close within a second', async () => {
    const { store, clock, attempts, settleStream } = setup(refuse('permit_nonce_mismatch'))
    const stream = closing()
    store.put(stream)
    for (let index = 0; index < 3; index += 1) {
      await settleStream(store.get(stream.id), payment)
      await clock.advance(200)
    }
    expect(attempts).toHaveLength(3)
    expect(store.get(stream.id)).toMatchObject({ state: 'closing', reason: 'permit_nonce_mismatch' })
  })

  it.each([
    ['permit_nonce_mismatch', 3],
    ['permit2_invalid_nonce', 3],
  ] as const)('takes %s as final after %s attempts', async (reason, count) => {
    const { store, round, attempts, clock } = setup(refuse(reason))
    const stream = closing()
    store.put(stream)
    for (let index = 0; index < 6; index += 1) {
      await round()
      await clock.advance(60_000)
    }
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason })
    expect(attempts).toHaveLength(count)
  })

  it.each([
    'insufficient_funds',
    'payment_below_minimum',
    'unsupported_scheme',
    'invalid_network',
    'unsupported_asset',
    'permit_simulation_failed',
  ] as const)('never takes %s as final before the authorization has ended', async (reason) => {
    const { store, round, clock } = setup(refuse(reason))
    const stream = closing({ settlesUntil: new Date(start.getTime() + 86_400_000) })
    store.put(stream)
    for (let index = 0; index < 20; index += 1) {
      await round()
      await clock.advance(60_000)
    }
    expect(store.get(stream.id)).toMatchObject({ state: 'closing', reason })
    await clock.advance(86_400_000)
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason })
  })

  it('fails if another request has settled the authorization', async () => {
    const { store, round, settleIn } = setup(refuse('duplicate_settlement'))
    const stream = closing()
    store.put(stream)
    await settleIn(stream, 'of another request')
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason: 'duplicate_settlement' })
  })

  it('works on other networks while one does not answer, and on each stream of that one once', async () => {
    let settle = (): void => undefined
    const hanging = new Promise<void>((resolve) => {
      settle = resolve
    })
    const { store, round, attempts, script, settleIn, closeStreams } = setup(chainIsDown)
    const dead = closing({ network: 'toy:dead' })
    store.put(dead)
    script.attempt = async ({ holdPurpose = '' }) => {
      const stream = store.get(holdPurpose.slice('stream:'.length))
      if (stream.network === dead.network) await hanging
      else await settleIn(stream)
      return { success: true, transaction: 'tx-1', network: 'toy:1' }
    }
    for (let index = 0; index < 3; index += 1) {
      const healthy = closing()
      store.put(healthy)
      await round()
      expect(store.get(healthy.id).state).toBe('closed')
    }
    expect(attempts.filter(({ holdPurpose }) => holdPurpose === `stream:${dead.id}`)).toHaveLength(1)
    settle()
    await closeStreams.close()
    expect(store.get(dead.id).state).toBe('closing')
  })

  it('fills each place that becomes free, and takes the authorizations that end first', async () => {
    const { store, round, attempts, script } = setup(chainIsDown)
    const places = 1_000
    const ends: (() => void)[] = []
    script.attempt = () =>
      new Promise((_resolve, reject) => {
        ends.push(() => reject(new Error('The chain does not answer')))
      })
    for (let index = 0; index < places; index += 1) store.put(closing())
    await round()
    const urgent = closing({ settlesUntil: new Date(start.getTime() + 120_000) })
    store.put(closing())
    store.put(urgent)
    await round()
    expect(attempts).toHaveLength(places)
    ends[0]?.()
    await drainEventLoop()
    await round()
    expect(attempts).toHaveLength(places + 1)
    expect(attempts.at(-1)).toMatchObject({ holdPurpose: `stream:${urgent.id}` })
  })

  it('closes others when one stream cannot be ended', async () => {
    const { store, round, logger, settleIn, script } = setup(chainIsDown)
    const broken = streamOf({ closesAt: start, amount: 1n })
    const healthy = closing()
    store.put(broken)
    store.put(healthy)
    script.attempt = async () => {
      await settleIn(healthy)
      return { success: true, transaction: 'tx-1', network: 'toy:1' }
    }
    store.fail(broken.id)
    await round()
    expect(store.get(healthy.id).state).toBe('closed')
    expect(logger.lines).toContainEqual(expect.objectContaining({ message: 'stream.close_failed' }))
  })
})

describe('a close near the end of its authorization', () => {
  it('is tried until then, so that a chain that comes back for seconds is enough', async () => {
    for (const downMs of [10_000, 25_000, 40_000, 50_000]) {
      const { store, round, clock, script, settleIn } = setup(chainIsDown)
      const stream = closing({ settlesUntil: new Date(start.getTime() + 60_000) })
      store.put(stream)
      script.attempt = async () => {
        if (clock.now().getTime() < start.getTime() + downMs) throw new Error('The chain does not answer')
        await settleIn(stream)
        return { success: true, transaction: 'tx-1', network: 'toy:1' }
      }
      for (let second = 0; second < 56; second += 2) {
        await round()
        await clock.advance(1_000)
      }
      expect(store.get(stream.id).state).toBe('closed')
    }
  })
})

describe('a settlement that is sent and fails on chain', () => {
  it('is tried again with growing pauses and under the limits, five times in all', async () => {
    const { store, round, clock, journal, attempts, script, released } = setup(chainIsDown)
    const stream = closing({ settlesUntil: new Date(start.getTime() + 7 * 86_400_000) })
    store.put(stream)
    const startedAt: number[] = []
    script.attempt = async ({ onClaimed }) => {
      startedAt.push(clock.now().getTime() - start.getTime())
      const { authorizationId } = stream
      const row = await journal.claim(claimOf({ authorizationId, fingerprint: `stream:${stream.id}` }))
      if (row === null) throw new Error('The last one failed')
      expect(await onClaimed?.(row)).toBeNull()
      await journal.recorderFor(row.id).record({ transaction: `tx-${startedAt.length}`, bytes: 'bytes' })
      await journal.close(row.id, { state: 'failed', reason: 'invalid_upto_evm_transaction_failed' })
      return {
        success: false,
        errorReason: 'invalid_upto_evm_transaction_failed',
        transaction: '',
        network: 'toy:1',
      }
    }
    for (let minute = 0; minute < 12 * 60; minute += 1) {
      await round()
      await clock.advance(59_000)
    }
    expect(store.get(stream.id)).toMatchObject({
      state: 'failed',
      reason: 'invalid_upto_evm_transaction_failed',
      reverts: 5,
    })
    expect(attempts.map(({ isAdmitted }) => isAdmitted)).toEqual([true, false, false, false, false])
    const pauses = startedAt.slice(1).map((each, index) => each - (startedAt[index] ?? 0))
    expect(pauses.map((each) => Math.floor(each / 60_000))).toEqual([1, 8, 64, 360])
    expect(released).toEqual([stream.id])
  })

  it('does not move funds for a stream that was given up meanwhile', async () => {
    const { store, round, journal, script } = setup(chainIsDown)
    const stream = closing()
    store.put(stream)
    script.attempt = async ({ onClaimed }) => {
      store.put({ ...stream, state: 'failed', attendAt: null, closedAt: start })
      const row = await journal.claim(claimOf({ authorizationId: stream.authorizationId }))
      if (row === null) throw new Error('Another settlement has the authorization')
      const refusal = await onClaimed?.(row)
      expect(refusal).toMatchObject({ isValid: false, reason: 'duplicate_settlement' })
      await journal.abandon(row.id)
      return { success: false, errorReason: 'duplicate_settlement', transaction: '', network: 'toy:1' }
    }
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', settlementId: null })
  })

  it('that had succeeded before its block was orphaned ends the stream', async () => {
    const { store, round, journal, settleIn } = setup(refuse('duplicate_settlement'))
    const stream = closing()
    store.put(stream)
    const settled = await journal.find(await settleIn(stream))
    const orphaned = { ...settled, state: 'failed', reason: 'transaction_failed' }
    Object.assign(journal, { findOpen: async () => orphaned })
    await round()
    expect(store.get(stream.id)).toMatchObject({ state: 'failed', reason: 'transaction_failed' })
  })
})

describe('the job that checks funds', () => {
  const check = (verdict: (amount: bigint) => Verification | Promise<Verification>) => {
    const clock = createManualClock(start)
    const store = createMemoryStreams(payment)
    const amounts: bigint[] = []
    const requesters: unknown[] = []
    const scheme = createToyScheme({
      kind: { scheme: 'upto', network: 'toy:1' },
      verify: async (given, { requester }) => {
        const amount = given.settleAmount ?? -1n
        amounts.push(amount)
        requesters.push(requester?.name)
        const judged = await verdict(amount)
        return judged.isValid ? toyAuthorized(given) : judged
      },
    })
    const logger = createMemoryLogger()
    const registry = createSchemeRegistry([scheme])
    const run = createCheckFunds({ store, registry, clock, logger })
    return { clock, store, amounts, requesters, run: () => run(stopped), logger }
  }
  const refused = (reason: Reason): Verification => ({ isValid: false, payer: 'alice', reason })
  const old = { createdAt: new Date(0), amount: 500n }

  it('asks for what was used, not for the maximum, once a minute', async () => {
    const { clock, store, amounts, run } = check(() => refused('insufficient_funds'))
    const stream = streamOf(old)
    store.put(stream)
    await run()
    await run()
    expect(amounts).toEqual([500n])
    expect(store.get(stream.id).risk).toBe('insufficient_funds')
    await clock.advance(60_001)
    await run()
    expect(amounts).toEqual([500n, 500n])
  })

  it.each([
    ['insufficient_funds', true],
    ['permit_nonce_mismatch', true],
    ['permit2_invalid_nonce', true],
    ['permit_allowance_changed', true],
    ['permit2_allowance_required', true],
    ['payment_below_minimum', false],
    ['router_not_deployed', false],
    ['unsupported_asset', false],
  ] as const)('with the refusal %s the funds are at risk: %s', async (reason, isAtRisk) => {
    const { store, run } = check(() => refused(reason))
    const stream = streamOf(old)
    store.put(stream)
    await run()
    expect(store.get(stream.id).risk).toBe(isAtRisk ? reason : null)
  })

  it('leaves everything as it is while the chain does not answer', async () => {
    const { store, run } = check(() => Promise.reject(new Error('The chain does not answer')))
    const stream = streamOf({ ...old, risk: 'insufficient_funds' })
    store.put(stream)
    await run()
    expect(store.get(stream.id)).toEqual(stream)
  })

  it('looks at every stream, although wallets of other payers exceed their share', async () => {
    const used = new AppError('SERVICE_UNAVAILABLE', 'Too many payments of contract wallets')
    const { store, run } = check((amount) =>
      amount === 1n ? Promise.reject(used) : refused('insufficient_funds'),
    )
    for (let count = 0; count < 20; count++) store.put(streamOf({ ...old, amount: 1n, payer: 'mallory' }))
    const stream = streamOf(old)
    store.put(stream)
    await run()
    expect(store.get(stream.id).risk).toBe('insufficient_funds')
  })

  it("leaves a network whose chain does not answer to the next round, and asks in the payer's share", async () => {
    const { store, run, amounts, requesters } = check(() => Promise.reject(new Error('The chain is down')))
    for (let count = 0; count < 100; count++) store.put(streamOf(old))
    await run()
    expect(amounts.length).toBeLessThan(20)
    expect(new Set(requesters)).toEqual(new Set(['payer alice']))
  })
})
