import { describe, expect, it, vi } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import type { Reason } from '../../../src/protocol/reasons.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createReconcileSettlements } from '../../../src/usecases/core/recover/reconcileSettlements.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { createMemoryCounter } from '../../support/memoryCounter.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme } from '../../support/toyScheme.js'

const setup = (resolve?: Scheme['resolve'], deadlineMs = waitLimitMs) => {
  const journal = createMemoryJournal()
  const logger = createMemoryLogger()
  const counter = createMemoryCounter()
  const registry = createSchemeRegistry([createToyScheme(resolve === undefined ? {} : { resolve })])
  const clock = createManualClock()
  const failures: string[] = []
  const limits = {
    countFailure: async ({ transaction }: Pick<Settlement, 'transaction'>, reason: Reason) =>
      void failures.push(`${transaction} ${reason}`),
  }
  const round = createReconcileSettlements({ registry, journal, counter, limits, clock, logger, deadlineMs })
  const reconcile = (stopped = new AbortController().signal) => round(stopped)
  let count = 0
  /** A row without an owner, sent with its own transaction. */
  const putPending = (fields: Partial<Settlement> = {}) => {
    count += 1
    return journal.put({
      state: 'pending',
      isOwned: false,
      authorizationId: `toy:1/${count}`,
      transaction: `tx-${count}`,
      ...fields,
    })
  }
  return { journal, logger, counter, clock, failures, reconcile, putPending }
}

describe('reconcileSettlements', () => {
  it('closes a payment that the chain confirms, without a consumer', async () => {
    const { journal, logger, reconcile, putPending } = setup(async () => ({
      state: 'confirmed',
      transaction: 'tx-mined',
    }))
    const { id } = putPending()
    await reconcile()
    expect(await journal.find(id)).toMatchObject({
      state: 'confirmed',
      transaction: 'tx-mined',
      consumedBy: null,
    })
    expect(logger.messages()).toEqual(['settlement.confirmed'])
  })

  it('closes a payment whose failure is proven, with its reason', async () => {
    const { journal, logger, reconcile, putPending } = setup(async () => ({
      state: 'failed',
      reason: 'authorization_expired_unsettled',
    }))
    const { id } = putPending()
    await reconcile()
    expect(await journal.find(id)).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired_unsettled',
      transaction: 'tx-1',
    })
    expect(logger.messages()).toEqual(['settlement.failed'])
  })

  it("releases pending rows, so that the caller's webhook gets its event", async () => {
    const { journal, reconcile, putPending } = setup(async () => ({ state: 'pending', transaction: 'tx-1' }))
    const release = vi.spyOn(journal, 'release')
    const { id } = putPending()
    await reconcile()
    expect(release.mock.calls).toEqual([[id]])
    expect(await journal.find(id)).toMatchObject({ state: 'pending' })
  })

  it('logs an error if a payment that was answered `success: true` is proven failed', async () => {
    const { journal, logger, counter, reconcile, putPending } = setup(async () => ({
      state: 'failed',
      reason: 'authorization_expired_unsettled',
    }))
    const { id } = putPending({ consumedBy: 'request:1' })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'failed', consumedBy: 'request:1' })
    expect(logger.messages()).toEqual(['settlement.failed', 'settlement.lost_after_success'])
    expect(logger.lines[1]).toMatchObject({
      level: 'error',
      fields: { settlementId: id, payer: 'alice', amount: '10000', consumedBy: 'request:1' },
    })
    expect(counter.counted).toEqual(['lost toy:1'])
  })

  it('stores the new block of a payment that is confirmed again, and keeps its consumer', async () => {
    const { journal, logger, counter, reconcile, putPending } = setup(async () => ({
      state: 'confirmed',
      transaction: 'tx-1',
      block: { number: 8n, hash: 'b8' },
    }))
    const { id } = putPending({ consumedBy: 'request:1' })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({
      state: 'confirmed',
      block: { number: 8n, hash: 'b8' },
      consumedBy: 'request:1',
    })
    expect(logger.lines).toMatchObject([{ fields: { blockNumber: '8', blockHash: 'b8' } }])
    expect(counter.counted).toEqual([])
  })

  it('lets a consumed row be sent again, logs it, and releases the row', async () => {
    const { journal, logger, reconcile, putPending } = setup(async (_settlement, _signal, options) => {
      const recorder = await options?.takeOver?.()
      await recorder?.record({ transaction: 'tx-again', bytes: '0x' })
      return { state: 'pending', transaction: 'tx-again' }
    })
    const { id } = putPending({ consumedBy: 'request:1' })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({
      state: 'pending',
      transaction: 'tx-again',
      isOwned: false,
    })
    expect(logger.messages()).toEqual(['settlement.sent_again'])
  })

  it('releases a row that it took when sending it again fails', async () => {
    const { journal, reconcile, putPending } = setup(async (_settlement, _signal, options) => {
      await options?.takeOver?.()
      throw new Error('The nodes are down')
    })
    const { id } = putPending({ consumedBy: 'request:1' })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'pending', isOwned: false })
  })

  it('sends nothing again that was not answered as a success: its authorization can be claimed again', async () => {
    let hasTakeOver: boolean | null = null
    const { reconcile, putPending } = setup(async (_settlement, _signal, options) => {
      hasTakeOver = options?.takeOver !== undefined
      return { state: 'pending', transaction: 'tx-1' }
    })
    putPending()
    await reconcile()
    expect(hasTakeOver).toBe(false)
  })

  it('leaves unproven rows unchanged and logs nothing', async () => {
    const { journal, logger, reconcile, putPending } = setup(async () => ({
      state: 'pending',
      transaction: 'tx-1',
    }))
    const row = putPending()
    await reconcile()
    expect(await journal.find(row.id)).toEqual(row)
    expect(logger.lines).toEqual([])
  })

  it('leaves rows unchanged that are owned or closed', async () => {
    const { journal, reconcile, putPending } = setup(() => Promise.reject(new Error('must not be resolved')))
    const rows = [
      putPending({ isOwned: true }),
      putPending({ state: 'confirmed' }),
      putPending({ state: 'failed', reason: 'insufficient_funds' }),
    ]
    await reconcile()
    expect(journal.list()).toEqual(rows)
  })

  it('abandons a claim without a recording, so that it can be retried', async () => {
    const { journal, logger, reconcile } = setup(() => Promise.reject(new Error('must not be resolved')))
    const { id } = journal.put({ isOwned: false })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'failed', reason: 'settlement_abandoned' })
    expect(logger.messages()).toEqual(['settlement.abandoned'])
  })

  it('keeps and logs a row whose network is no longer configured', async () => {
    const { journal, logger, reconcile, putPending } = setup()
    const row = putPending({ network: 'gone:1' })
    await reconcile()
    expect(await journal.find(row.id)).toEqual(row)
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { settlementId: row.id, network: 'gone:1' } },
    ])
  })

  it('continues with other rows if one fails', async () => {
    const { journal, logger, reconcile, putPending } = setup(async ({ transaction }) => {
      if (transaction === 'tx-1') throw new Error('no node answers')
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    const [stuck, ...others] = Array.from({ length: 20 }, () => putPending())
    await reconcile()
    expect((await journal.find(stuck?.id ?? ''))?.state).toBe('pending')
    for (const { id } of others) expect((await journal.find(id))?.state).toBe('confirmed')
    expect(logger.lines).toContainEqual({
      level: 'warn',
      message: 'settlement.resolve_failed',
      fields: {
        settlementId: stuck?.id,
        account: 'anonymous',
        network: 'toy:1',
        error: new Error('no node answers'),
      },
    })
  })

  it('resolves the other rows of a network although some of its rows can never be resolved', async () => {
    const bad = new Set(['tx-1', 'tx-2', 'tx-3', 'tx-4'])
    const { journal, reconcile, putPending } = setup(async ({ transaction }) => {
      if (bad.has(transaction ?? '')) throw new Error('the node refuses')
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    const rows = Array.from({ length: 40 }, () => putPending())
    await reconcile()
    await reconcile()
    const states = await Promise.all(rows.map(async ({ id }) => (await journal.find(id))?.state))
    expect(states).toEqual(rows.map((_, index) => (index < bad.size ? 'pending' : 'confirmed')))
  })

  it('asks less and less often about a row that cannot be resolved, and closes it when it can', async () => {
    let asked = 0
    let isBroken = true
    const { clock, journal, reconcile, putPending } = setup(async ({ transaction }) => {
      asked += 1
      if (isBroken) throw new Error('the node refuses')
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    const { id } = putPending()
    for (let round = 0; round < 60; round++) {
      await reconcile()
      await clock.advance(2_000)
    }
    expect(asked).toBeGreaterThan(4)
    expect(asked).toBeLessThan(12)
    isBroken = false
    await clock.advance(30_000)
    await reconcile()
    expect((await journal.find(id))?.state).toBe('confirmed')
  })

  it('skips a network after repeated failures', async () => {
    let resolved = 0
    const { reconcile, putPending } = setup(async () => {
      resolved += 1
      throw new Error('no node answers')
    })
    for (let row = 0; row < 100; row++) putPending()
    await reconcile()
    expect(resolved).toBeLessThanOrEqual(3 + 8)
  })

  it('resolves no further row during shutdown', async () => {
    const closing = new AbortController()
    let resolved = 0
    const { reconcile, putPending } = setup(async ({ transaction }) => {
      resolved += 1
      closing.abort()
      return { state: 'pending', transaction: transaction ?? '' }
    })
    for (let row = 0; row < 100; row++) putPending()
    await reconcile(closing.signal)
    expect(resolved).toBeLessThanOrEqual(8)
  })

  it('logs nothing for a row that was closed concurrently', async () => {
    const { journal, logger, reconcile, putPending } = setup(async ({ id, transaction }) => {
      journal.change(id, { state: 'confirmed', consumedBy: 'request:1' })
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    const { id } = putPending()
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'confirmed', consumedBy: 'request:1' })
    expect(logger.lines).toEqual([])
  })

  it('resolves at most eight rows concurrently', async () => {
    let resolved = 0
    let open: () => void = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { reconcile, putPending } = setup(async ({ transaction }) => {
      resolved += 1
      await opened
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    for (let row = 0; row < 12; row++) putPending()
    const round = reconcile()
    await drainEventLoop()
    expect(resolved).toBe(8)
    open()
    await round
    expect(resolved).toBe(12)
  })

  it('gives the chain a deadline', async () => {
    const { journal, logger, reconcile, putPending } = setup(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      5,
    )
    const { id } = putPending()
    await reconcile()
    expect((await journal.find(id))?.state).toBe('pending')
    expect(logger.messages()).toEqual(['settlement.resolve_failed'])
  })

  it('counts a failure once, however often it is found', async () => {
    const transaction = 'tx-1'
    const { failures, reconcile, putPending, journal } = setup(async () => ({
      state: 'failed',
      reason: 'transaction_failed',
      transaction,
    }))
    const { id } = putPending()
    await Promise.all([reconcile(), reconcile()])
    await reconcile()
    expect((await journal.find(id))?.state).toBe('failed')
    expect(failures).toEqual(['tx-1 transaction_failed'])
  })

  it('rejects if the journal is unavailable, for the job to log', async () => {
    const { journal, logger } = setup()
    const reconcile = createReconcileSettlements({
      registry: createSchemeRegistry([]),
      journal: { ...journal, listOrphaned: () => Promise.reject(new Error('down')) },
      counter: createMemoryCounter(),
      limits: noSpendingLimits,
      clock: createManualClock(),
      logger,
      deadlineMs: waitLimitMs,
    })
    await expect(reconcile(new AbortController().signal)).rejects.toThrow('down')
  })
})
