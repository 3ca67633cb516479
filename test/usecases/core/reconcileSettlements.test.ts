import { describe, expect, it, vi } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createReconcileSettlements } from '../../../src/usecases/core/reconcileSettlements.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { createMemoryCounter } from '../../support/memoryCounter.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createToyScheme } from '../../support/toyScheme.js'

const setup = (resolve?: Scheme['resolve'], deadlineMs = 5_000) => {
  const journal = createMemoryJournal()
  const logger = createMemoryLogger()
  const counter = createMemoryCounter()
  const registry = createSchemeRegistry([createToyScheme(resolve === undefined ? {} : { resolve })])
  const round = createReconcileSettlements({ registry, journal, counter, logger, deadlineMs })
  const reconcile = (stopped = new AbortController().signal) => round(stopped)
  let count = 0
  /** A row that nobody attends, sent with a transaction of its own. */
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
  return { journal, logger, counter, reconcile, putPending }
}

describe('reconcileSettlements', () => {
  it('closes a payment that the chain confirms, and nobody is told success by it', async () => {
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

  it('closes a payment that the chain proves void, with its reason', async () => {
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

  it("leaves what is pending to itself, so that its caller's webhook is told", async () => {
    const { journal, reconcile, putPending } = setup(async () => ({ state: 'pending', transaction: 'tx-1' }))
    const release = vi.spyOn(journal, 'release')
    const { id } = putPending()
    await reconcile()
    expect(release.mock.calls).toEqual([[id]])
    expect(await journal.find(id)).toMatchObject({ state: 'pending' })
  })

  it('says loudly when a payment that somebody was told success for is proven void', async () => {
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

  it('keeps the block of a payment that is confirmed again, and who was told', async () => {
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

  it('leaves alone what is not proven, and says nothing', async () => {
    const { journal, logger, reconcile, putPending } = setup(async () => ({
      state: 'pending',
      transaction: 'tx-1',
    }))
    const row = putPending()
    await reconcile()
    expect(await journal.find(row.id)).toEqual(row)
    expect(logger.lines).toEqual([])
  })

  it('leaves alone what another process works on, and what is closed', async () => {
    const { journal, reconcile, putPending } = setup(() => Promise.reject(new Error('must not be asked')))
    const rows = [
      putPending({ isOwned: true }),
      putPending({ state: 'confirmed' }),
      putPending({ state: 'failed', reason: 'insufficient_funds' }),
    ]
    await reconcile()
    expect(journal.list()).toEqual(rows)
  })

  it('gives up a claim for which nothing was recorded, so that it can be tried again', async () => {
    const { journal, logger, reconcile } = setup(() => Promise.reject(new Error('must not be asked')))
    const { id } = journal.put({ isOwned: false })
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'failed', reason: 'settlement_abandoned' })
    expect(logger.messages()).toEqual(['settlement.abandoned'])
  })

  it('keeps a row whose network is not configured any more, and says so', async () => {
    const { journal, logger, reconcile, putPending } = setup()
    const row = putPending({ network: 'gone:1' })
    await reconcile()
    expect(await journal.find(row.id)).toEqual(row)
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { settlementId: row.id, network: 'gone:1' } },
    ])
  })

  it('goes on with the others when one cannot be asked', async () => {
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
      fields: { settlementId: stuck?.id, network: 'toy:1', error: new Error('no node answers') },
    })
  })

  it('does not ask a network again and again that does not answer', async () => {
    let asked = 0
    const { reconcile, putPending } = setup(async () => {
      asked += 1
      throw new Error('no node answers')
    })
    for (let row = 0; row < 100; row++) putPending()
    await reconcile()
    expect(asked).toBeLessThanOrEqual(3 + 8)
  })

  it('asks nothing more once the service is closing', async () => {
    const closing = new AbortController()
    let asked = 0
    const { reconcile, putPending } = setup(async ({ transaction }) => {
      asked += 1
      closing.abort()
      return { state: 'pending', transaction: transaction ?? '' }
    })
    for (let row = 0; row < 100; row++) putPending()
    await reconcile(closing.signal)
    expect(asked).toBeLessThanOrEqual(8)
  })

  it('says nothing of a row that someone else closed first', async () => {
    const { journal, logger, reconcile, putPending } = setup(async ({ id, transaction }) => {
      journal.change(id, { state: 'confirmed', consumedBy: 'request:1' })
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    const { id } = putPending()
    await reconcile()
    expect(await journal.find(id)).toMatchObject({ state: 'confirmed', consumedBy: 'request:1' })
    expect(logger.lines).toEqual([])
  })

  it('asks about eight at once and no more', async () => {
    let asked = 0
    let open: () => void = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { reconcile, putPending } = setup(async ({ transaction }) => {
      asked += 1
      await opened
      return { state: 'confirmed', transaction: transaction ?? '' }
    })
    for (let row = 0; row < 12; row++) putPending()
    const round = reconcile()
    await drainEventLoop()
    expect(asked).toBe(8)
    open()
    await round
    expect(asked).toBe(12)
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

  it('lets a journal that does not answer end the round, for the job to report', async () => {
    const { journal, logger } = setup()
    const reconcile = createReconcileSettlements({
      registry: createSchemeRegistry([]),
      journal: { ...journal, listOrphaned: () => Promise.reject(new Error('down')) },
      counter: createMemoryCounter(),
      logger,
      deadlineMs: 1_000,
    })
    await expect(reconcile(new AbortController().signal)).rejects.toThrow('down')
  })
})
