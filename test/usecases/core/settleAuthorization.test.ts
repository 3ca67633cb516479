import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import type { QuotaClaim } from '../../../src/ports/quotas.js'
import type { Settlement, SettlementJournal } from '../../../src/ports/settlementJournal.js'
import { isRefused, readPayment } from '../../../src/protocol/legacy.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import {
  type ConcurrencyLimitSettings,
  createConcurrencyLimits,
} from '../../../src/usecases/core/concurrencyLimits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settleAuthorization.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { createMemoryJournal, type MemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import {
  createToyScheme,
  type ToyScript,
  type ToySettle,
  toyAuthorized,
  toyBody,
} from '../../support/toyScheme.js'

/** What a test changes of a world in which everything goes well. */
interface World {
  readonly scheme?: ToyScript
  /** Journal methods that behave otherwise; they get the plain journal. */
  readonly journal?: (plain: MemoryJournal) => Partial<SettlementJournal>
  readonly spend?: () => Promise<void>
  readonly waitMs?: number
  readonly atOnce?: ConcurrencyLimitSettings
  /** Called at each pause of a caller who waits for somebody else's settlement. */
  readonly onPause?: (plain: MemoryJournal) => void
}

const setup = ({
  scheme = {},
  journal = () => ({}),
  spend = async () => {},
  waitMs = 5_000,
  atOnce = { settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 },
  onPause,
}: World = {}) => {
  const plain = createMemoryJournal()
  const logger = createMemoryLogger()
  const settle = createSettleAuthorization({
    registry: createSchemeRegistry([createToyScheme(scheme)]),
    journal: { ...plain, ...journal(plain) },
    limits: { spend },
    concurrency: createConcurrencyLimits(atOnce),
    // Pauses take no time here; they only let others work.
    clock: {
      now: () => new Date('2026-01-01T00:00:00Z'),
      sleep: async (_milliseconds, signal) => {
        await drainEventLoop()
        onPause?.(plain)
        return signal?.aborted !== true
      },
    },
    logger,
    waitMs,
  })
  const attempt = (
    changes: {
      body?: ReturnType<typeof toyBody>
      caller?: string
      quota?: QuotaClaim
      fingerprint?: string
      consumer?: string
    } = {},
  ) => {
    const { body = toyBody(), ...others } = changes
    const payment = readPayment(body)
    if (isRefused(payment)) throw new Error(`The body is refused as ${payment.reason}`)
    return settle({
      payment,
      caller: 'anonymous',
      quota: null,
      fingerprint: 'f',
      consumer: 'request:1',
      ...others,
    })
  }
  return { plain, logger, attempt }
}

const onlyRow = (journal: MemoryJournal): Settlement => {
  const [row, ...others] = journal.list()
  if (row === undefined || others.length > 0) throw new Error(`There are ${others.length + 1} rows`)
  return row
}

const sent = { transaction: 'tx-1', bytes: 'bytes-1' }

/** A scheme that records and then does something. */
const afterRecording = (next: () => ReturnType<ToySettle>): ToyScript => ({
  settle: async (_payment, recorder) => {
    await recorder.record(sent)
    return await next()
  },
})

const pendingAnswer = {
  success: false,
  errorReason: 'settlement_pending',
  status: 'pending',
  transaction: 'tx-1',
  network: 'toy:1',
  payer: 'alice',
}
const duplicateAnswer = {
  success: false,
  errorReason: 'duplicate_settlement',
  network: 'toy:1',
  payer: 'alice',
}

describe('a settlement that goes well', () => {
  it('is claimed, recorded, closed, and told to the one who asked', async () => {
    const { plain, logger, attempt } = setup()
    const answer = await attempt()
    const row = onlyRow(plain)
    expect(answer).toEqual({
      success: true,
      transaction: 'tx-1',
      network: 'toy:1',
      payer: 'alice',
      amount: '10000',
      settlementId: row.id,
      status: 'confirmed',
    })
    expect(row).toMatchObject({ state: 'confirmed', broadcasts: [sent], consumedBy: 'request:1' })
    expect(logger.messages()).toEqual(['settlement.opened', 'settlement.broadcast', 'settlement.confirmed'])
  })

  it('claims before the scheme may send', async () => {
    const { plain, attempt } = setup({
      scheme: {
        settle: async (_payment, recorder) => {
          expect(onlyRow(plain)).toMatchObject({ id: recorder.settlementId, state: 'claimed' })
          await recorder.record(sent)
          expect(onlyRow(plain)).toMatchObject({ state: 'pending', transaction: 'tx-1' })
          return { state: 'confirmed', transaction: 'tx-1' }
        },
      },
    })
    expect((await attempt()).success).toBe(true)
  })

  it('logs neither the payload nor the signed bytes', async () => {
    const { logger, attempt } = setup()
    await attempt()
    expect(JSON.stringify(logger.lines)).not.toContain('bytes-1')
    expect(JSON.stringify(logger.lines)).not.toContain('payload')
  })
})

describe('a scheme that settles a part of what was authorized', () => {
  /** The toy's payment authorizes 10000; of it, this much is settled. */
  const settling = (amount: bigint, settle: ToySettle): ToyScript => ({
    verify: async (payment) =>
      toyAuthorized(payment, {
        amount,
        details: { permit: 1 },
        settle: (recorder, options) => settle(payment, recorder, options),
      }),
  })
  const sendAndConfirm: ToySettle = async (_payment, recorder) => {
    await recorder.record(sent)
    return { state: 'confirmed', transaction: 'tx-1', gasUsed: 21_000n }
  }

  it('moves that part, and the journal holds both amounts, the gas and the details of the scheme', async () => {
    const { plain, attempt } = setup({ scheme: settling(4_000n, sendAndConfirm) })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-1', amount: '4000' })
    expect(onlyRow(plain)).toMatchObject({
      state: 'confirmed',
      amount: 4_000n,
      authorizedAmount: 10_000n,
      settledAmount: 4_000n,
      gasUsed: 21_000n,
      details: { permit: 1 },
    })
  })

  it('answers what the chain proved where that is less, also to a retry and in the log', async () => {
    const { plain, logger, attempt } = setup({
      scheme: settling(4_000n, async (_payment, recorder) => {
        await recorder.record(sent)
        return { state: 'confirmed', transaction: 'tx-1', settledAmount: 3_999n }
      }),
    })
    expect(await attempt()).toMatchObject({ success: true, amount: '3999' })
    expect(await attempt()).toMatchObject({ success: true, amount: '3999' })
    expect(onlyRow(plain).settledAmount).toBe(3_999n)
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        message: 'settlement.confirmed',
        fields: expect.objectContaining({ amount: '4000', settledAmount: '3999' }),
      }),
    )
  })

  it('settles 0: nothing is recorded, the authorization is used up, and another amount is a duplicate', async () => {
    const settleNothing: ToySettle = async () => ({
      state: 'confirmed',
      transaction: '',
      settledAmount: 0n,
    })
    const { plain, attempt } = setup({ scheme: settling(0n, settleNothing) })
    expect(await attempt()).toMatchObject({ success: true, transaction: '', amount: '0' })
    expect(onlyRow(plain)).toMatchObject({
      state: 'confirmed',
      amount: 0n,
      authorizedAmount: 10_000n,
      settledAmount: 0n,
      transaction: null,
      broadcasts: [],
    })
    expect(await attempt({ fingerprint: 'another amount', consumer: 'request:2' })).toMatchObject({
      ...duplicateAnswer,
      transaction: '',
    })
  })
})

describe('a scheme that only verifies', () => {
  const paid = 'the transaction of the payer'
  const claiming: ToyScript = { settle: async () => ({ state: 'confirmed', transaction: paid }) }

  it("claims the proof: the answer names the payer's transaction, and nothing is recorded", async () => {
    const { plain, logger, attempt } = setup({ scheme: claiming })
    expect(await attempt()).toMatchObject({ success: true, transaction: paid, amount: '10000' })
    expect(onlyRow(plain)).toMatchObject({
      state: 'confirmed',
      transaction: paid,
      broadcasts: [],
      settledAmount: 10_000n,
      authorizedAmount: 10_000n,
    })
    expect(logger.messages()).toEqual(['settlement.opened', 'settlement.confirmed'])
  })

  it('claims each proof once', async () => {
    const { plain, attempt } = setup({ scheme: claiming })
    const answers = await Promise.all(
      ['1', '2', '3'].map((who) => attempt({ fingerprint: who, consumer: `request:${who}` })),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ success }) => !success)).toMatchObject([duplicateAnswer, duplicateAnswer])
    expect(plain.list()).toHaveLength(1)
  })

  it('whose claim was closed and whose answer was lost is the success that was written', async () => {
    const { attempt } = setup({
      scheme: claiming,
      journal: (journal) => ({
        close: async (id, closing, consumer) => {
          await journal.close(id, closing, consumer)
          throw new Error('the answer to the commit was lost')
        },
      }),
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: paid })
  })

  it('that cannot close the claim is pending, and the proof can be claimed again', async () => {
    let isDown = true
    const { plain, attempt } = setup({
      scheme: claiming,
      journal: (journal) => ({
        close: (id, closing, consumer) =>
          isDown ? Promise.reject(new Error('down')) : journal.close(id, closing, consumer),
      }),
    })
    expect(await attempt()).toMatchObject({ errorReason: 'settlement_pending', transaction: paid })
    plain.change(onlyRow(plain).id, { isOwned: false })
    isDown = false
    expect(await attempt()).toMatchObject({ success: true, transaction: paid })
  })
})

describe('a payment that is not settled', () => {
  it('because it is for a network that is not served leaves no row', async () => {
    const { plain, attempt } = setup()
    expect(await attempt({ body: toyBody('nonce-1', 'toy:2') })).toMatchObject({
      success: false,
      errorReason: 'invalid_network',
      transaction: '',
    })
    expect(plain.list()).toEqual([])
  })

  it('because the scheme refuses it leaves no row, and says why and who pays', async () => {
    const { plain, attempt } = setup({
      scheme: { verify: async () => ({ isValid: false, payer: 'alice', reason: 'insufficient_funds' }) },
    })
    expect(await attempt()).toEqual({
      success: false,
      errorReason: 'insufficient_funds',
      errorMessage: "The payer's token balance is lower than the payment",
      operationalCode: 'SVC-3003',
      transaction: '',
      network: 'toy:1',
      payer: 'alice',
    })
    expect(plain.list()).toEqual([])
  })

  it('because too many were settled leaves no row and is a matter for the caller', async () => {
    const limited = new AppError('RATE_LIMITED', 'Too many')
    const { plain, attempt } = setup({ spend: () => Promise.reject(limited) })
    await expect(attempt()).rejects.toBe(limited)
    expect(plain.list()).toEqual([])
  })

  it('is told its failure when the chain proved one, and may be tried again', async () => {
    let attempts = 0
    const { plain, attempt } = setup({
      scheme: {
        settle: async (_payment, recorder) => {
          attempts += 1
          const transaction = `tx-${attempts}`
          await recorder.record({ transaction, bytes: 'bytes' })
          return attempts === 1
            ? { state: 'failed', reason: 'invalid_exact_evm_transaction_failed', transaction }
            : { state: 'confirmed', transaction }
        },
      },
    })
    expect(await attempt()).toMatchObject({
      success: false,
      status: 'failed',
      errorReason: 'invalid_exact_evm_transaction_failed',
      operationalCode: 'SVC-3002',
    })
    expect((await attempt()).success).toBe(true)
    expect(plain.list().map(({ state }) => state)).toEqual(['failed', 'confirmed'])
  })
})

describe('a failure before anything was recorded', () => {
  const nothingSent = { code: 'SETTLEMENT_FAILED', operationalCode: 'SVC-3002' }

  it('of the scheme gives the claim up, and the payment can be tried again', async () => {
    let attempts = 0
    const { plain, attempt } = setup({
      scheme: {
        settle: async (_payment, recorder) => {
          attempts += 1
          if (attempts === 1) throw new Error('no node answers')
          await recorder.record(sent)
          return { state: 'confirmed', transaction: 'tx-1' }
        },
      },
    })
    await expect(attempt()).rejects.toMatchObject({ ...nothingSent, cause: new Error('no node answers') })
    expect(onlyRow(plain)).toMatchObject({ state: 'failed', reason: 'settlement_abandoned' })
    expect((await attempt()).success).toBe(true)
  })

  it('that the scheme has words for is told in these words', async () => {
    const unavailable = new AppError('SERVICE_UNAVAILABLE', 'toy:1 is not settling', {
      retryAfterSeconds: 10,
    })
    const { plain, attempt } = setup({ scheme: { settle: () => Promise.reject(unavailable) } })
    await expect(attempt()).rejects.toBe(unavailable)
    expect(onlyRow(plain).state).toBe('failed')
  })

  it('is told even when the claim cannot be given up; then the reconciler does', async () => {
    const { plain, logger, attempt } = setup({
      scheme: { settle: () => Promise.reject(new Error('no node answers')) },
      journal: () => ({ abandon: () => Promise.reject(new Error('down')) }),
    })
    await expect(attempt()).rejects.toMatchObject(nothingSent)
    expect(onlyRow(plain).state).toBe('claimed')
    expect(logger.messages()).toContain('settlement.abandon_failed')
  })

  it('of a recorder that did record is pending with the hash: those bytes will be sent', async () => {
    const { plain, attempt } = setup({
      scheme: afterRecording(async () => ({ state: 'confirmed', transaction: 'tx-1' })),
      journal: (plainJournal) => ({
        recorderFor: (settlementId) => {
          const recorder = plainJournal.recorderFor(settlementId)
          const loseAnswer = async () => {
            await recorder.record(sent)
            throw new Error('the answer to the commit was lost')
          }
          return { settlementId, record: loseAnswer }
        },
      }),
    })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', isOwned: false })
  })

  it('of a recorder that did record leaves the row to the reconciler even when nobody can look at it', async () => {
    const { plain, attempt } = setup({
      scheme: afterRecording(async () => ({ state: 'confirmed', transaction: 'tx-1' })),
      journal: (plainJournal) => ({
        find: () => Promise.reject(new Error('down')),
        recorderFor: (settlementId) => {
          const loseAnswer = async () => {
            await plainJournal.recorderFor(settlementId).record(sent)
            throw new Error('the answer to the commit was lost')
          }
          return { settlementId, record: loseAnswer }
        },
      }),
    })
    await expect(attempt()).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' })
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', isOwned: false })
  })

  it.each([
    ['verify', { scheme: { verify: () => Promise.reject(new Error('broken')) } }],
    [
      'the look for an earlier row',
      { journal: () => ({ findOpen: () => Promise.reject(new Error('broken')) }) },
    ],
    ['the claim', { journal: () => ({ claim: () => Promise.reject(new Error('broken')) }) }],
  ] satisfies [string, World][])('of %s leaves no row', async (_, world) => {
    const { plain, attempt } = setup(world)
    await expect(attempt()).rejects.toMatchObject({ ...nothingSent, cause: new Error('broken') })
    expect(plain.list()).toEqual([])
  })

  it('of verify to end within the time that a caller waits leaves no row', async () => {
    const { plain, attempt } = setup({ waitMs: 20, scheme: { verify: () => new Promise(() => undefined) } })
    await expect(attempt()).rejects.toMatchObject(nothingSent)
    expect(plain.list()).toEqual([])
  })

  it('of the recorder sends nothing and gives the claim up', async () => {
    let sends = 0
    const { plain, attempt } = setup({
      scheme: afterRecording(async () => {
        sends += 1
        return { state: 'confirmed', transaction: 'tx-1' }
      }),
      journal: () => ({
        recorderFor: (settlementId) => ({
          settlementId,
          record: () => Promise.reject(new Error('taken over')),
        }),
      }),
    })
    await expect(attempt()).rejects.toMatchObject(nothingSent)
    expect(sends).toBe(0)
    expect(onlyRow(plain).state).toBe('failed')
  })
})

describe('a failure after something was recorded', () => {
  it('of the scheme is pending with the hash, and the row belongs to the reconciler', async () => {
    const { plain, attempt } = setup({ scheme: afterRecording(() => Promise.reject(new Error('lost'))) })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', transaction: 'tx-1', isOwned: false })
    expect(await plain.listOrphaned(10)).toHaveLength(1)
  })

  it('of the scheme in a lane of ours is pending with the hash', async () => {
    const { attempt } = setup({
      scheme: {
        settle: async (_payment, recorder) => {
          await recorder.record(sent, async () => {})
          throw new Error('lost')
        },
      },
    })
    expect(await attempt()).toMatchObject(pendingAnswer)
  })

  it('names the newest transaction where several were recorded', async () => {
    const { attempt } = setup({
      scheme: {
        settle: async (_payment, recorder) => {
          await recorder.record({ transaction: 'tx-0', bytes: 'bytes-0' })
          await recorder.record(sent)
          throw new Error('lost')
        },
      },
    })
    expect(await attempt()).toMatchObject(pendingAnswer)
  })

  it('of the journal that cannot close a confirmed payment is pending: success is told only when it is written', async () => {
    const { plain, logger, attempt } = setup({
      journal: () => ({ close: () => Promise.reject(new Error('down')) }),
    })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', consumedBy: null })
    expect(logger.messages()).toContain('settlement.close_failed')
  })

  it('of the journal that closed the row but whose answer was lost is the success that it wrote', async () => {
    const { plain, attempt } = setup({
      journal: (journal) => ({
        close: async (id, closing, consumer) => {
          await journal.close(id, closing, consumer)
          throw new Error('the answer to the commit was lost')
        },
      }),
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-1' })
    expect(onlyRow(plain)).toMatchObject({ state: 'confirmed', consumedBy: 'request:1' })
    expect(await attempt({ consumer: 'request:2' })).toMatchObject(duplicateAnswer)
  })

  it('of the journal that cannot let go of a pending payment is pending', async () => {
    const { attempt } = setup({
      scheme: afterRecording(async () => ({ state: 'pending', transaction: 'tx-1' })),
      journal: () => ({ release: () => Promise.reject(new Error('down')) }),
    })
    expect(await attempt()).toMatchObject(pendingAnswer)
  })
})

describe('a close that the reconciler won', () => {
  const closeLater = (fields: Partial<Settlement>) => (plain: MemoryJournal) => ({
    close: async (id: string) => {
      plain.change(id, fields)
      return false
    },
  })

  it('with a confirmation is success for the one who asked, once', async () => {
    const { plain, attempt } = setup({
      journal: closeLater({ state: 'confirmed', transaction: 'tx-2', isOwned: false }),
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-2' })
    expect(onlyRow(plain).consumedBy).toBe('request:1')
    expect(await attempt({ consumer: 'request:2' })).toMatchObject({
      ...duplicateAnswer,
      transaction: 'tx-2',
    })
  })

  it('with a confirmation that another was told of is a duplicate', async () => {
    const { attempt } = setup({
      journal: closeLater({ state: 'confirmed', transaction: 'tx-2', consumedBy: 'request:0' }),
    })
    expect(await attempt()).toMatchObject({ ...duplicateAnswer, transaction: 'tx-2' })
  })

  it('with a failure is that failure, whatever the scheme said', async () => {
    const { attempt } = setup({
      journal: closeLater({ state: 'failed', reason: 'authorization_expired_unsettled' }),
    })
    expect(await attempt()).toMatchObject({
      success: false,
      status: 'failed',
      errorReason: 'authorization_expired_unsettled',
    })
  })

  it('is never success when the row is gone', async () => {
    const { attempt } = setup({
      journal: (plain) => ({
        close: async (id) => {
          plain.change(id, null)
          return false
        },
      }),
    })
    expect(await attempt()).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      status: 'pending',
    })
  })
})

describe('a payment whose block was taken back after somebody was told success', () => {
  const reopened: Partial<Settlement> = {
    state: 'pending',
    transaction: 'tx-1',
    isOwned: false,
    consumedBy: 'request:0',
  }

  it('is pending to a retry of its request, and a duplicate to any other', async () => {
    const { plain, attempt } = setup({ waitMs: 1 })
    plain.put(reopened)
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(await attempt({ caller: 'key-2' })).toMatchObject(duplicateAnswer)
  })

  it('is a duplicate to a retry of its request once it is back', async () => {
    const { plain, attempt } = setup({
      onPause: (journal) => {
        for (const { id } of journal.list()) journal.change(id, { state: 'confirmed' })
      },
    })
    plain.put(reopened)
    expect(await attempt()).toMatchObject(duplicateAnswer)
    expect(onlyRow(plain).consumedBy).toBe('request:0')
  })

  it('is told again to the same Idempotency-Key once it is back', async () => {
    const { plain, attempt } = setup({
      onPause: (journal) => {
        for (const { id } of journal.list()) journal.change(id, { state: 'confirmed' })
      },
    })
    plain.put(reopened)
    expect(await attempt({ consumer: 'request:0' })).toMatchObject({ success: true })
  })

  it('is told as failed when it is lost, and never begun anew', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...reopened, state: 'failed', reason: 'authorization_expired_unsettled' })
    expect(await attempt()).toMatchObject({
      success: false,
      status: 'failed',
      errorReason: 'authorization_expired_unsettled',
    })
    expect(plain.list()).toHaveLength(1)
  })

  it.each(['confirmed', 'failed'] as const)(
    'is pending to the one who began it and learns late that it %s',
    async (state) => {
      const { plain, logger, attempt } = setup({
        scheme: afterRecording(async () => {
          // Meanwhile another one was told, and then the block vanished.
          plain.change(onlyRow(plain).id, { consumedBy: 'request:0' })
          return state === 'confirmed'
            ? { state, transaction: 'tx-1' }
            : { state, reason: 'authorization_expired_unsettled' }
        }),
      })
      expect(await attempt()).toMatchObject(pendingAnswer)
      expect(onlyRow(plain)).toMatchObject({ state: 'pending', consumedBy: 'request:0' })
      expect(logger.messages()).not.toContain('settlement.contradiction')
    },
  )
})

describe('an authorization that another request began to settle', () => {
  const begun = { state: 'pending', transaction: 'tx-1', broadcasts: [sent] } as const

  it.each([
    ['another caller', { caller: 'key-2' }],
    ['another request', { fingerprint: 'g' }],
  ])('is a duplicate for %s, with the hash, at once', async (_, changes) => {
    const { plain, attempt } = setup({ onPause: () => expect.unreachable('nobody may wait') })
    const { id } = plain.put(begun)
    expect(await attempt(changes)).toMatchObject({
      ...duplicateAnswer,
      transaction: 'tx-1',
      settlementId: id,
    })
  })

  it('is a duplicate without a hash while nothing was recorded', async () => {
    const { plain, attempt } = setup()
    plain.put({})
    expect(await attempt({ fingerprint: 'g' })).toMatchObject({ ...duplicateAnswer, transaction: '' })
  })

  it('is a duplicate for another caller when it is confirmed, told or not', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...begun, state: 'confirmed' })
    expect(await attempt({ caller: 'key-2' })).toMatchObject({ ...duplicateAnswer, transaction: 'tx-1' })
    expect(onlyRow(plain).consumedBy).toBeNull()
  })

  it('is joined by a retry of the same request, and told to one of them', async () => {
    let pauses = 0
    const { plain, attempt } = setup({
      onPause: (journal) => {
        pauses += 1
        const [row] = journal.list()
        if (pauses === 3 && row !== undefined) journal.change(row.id, { state: 'confirmed' })
      },
    })
    const { id } = plain.put(begun)
    const answers = await Promise.all([
      attempt({ consumer: 'request:2' }),
      attempt({ consumer: 'request:3' }),
    ])
    expect(answers.filter(({ success }) => success)).toEqual([
      {
        success: true,
        transaction: 'tx-1',
        network: 'toy:1',
        payer: 'alice',
        amount: '10000',
        settlementId: id,
        status: 'confirmed',
      },
    ])
    expect(answers.filter(({ success }) => !success)).toMatchObject([
      { ...duplicateAnswer, transaction: 'tx-1' },
    ])
  })

  it('is begun anew by a retry when the first gave its claim up', async () => {
    const { plain, attempt } = setup({
      onPause: (journal) => {
        const [row] = journal.list()
        if (row !== undefined) journal.change(row.id, { state: 'failed', reason: 'settlement_abandoned' })
      },
    })
    plain.put({})
    expect(await attempt({ consumer: 'request:2' })).toMatchObject({ success: true, transaction: 'tx-1' })
    expect(plain.list().map(({ state }) => state)).toEqual(['failed', 'confirmed'])
  })

  it('is told to the one who was written down although the answer to that was lost', async () => {
    const { plain, attempt } = setup({
      journal: (journal) => ({
        consume: async (id, consumer) => {
          await journal.consume(id, consumer)
          throw new Error('the answer was lost')
        },
      }),
    })
    plain.put({ ...begun, state: 'confirmed' })
    expect(await attempt({ consumer: 'request:2' })).toMatchObject({ success: true })
    expect(await attempt({ consumer: 'request:3' })).toMatchObject(duplicateAnswer)
  })

  it('is pending with the hash while the journal cannot say who was told', async () => {
    const { plain, attempt } = setup({
      journal: () => ({ consume: () => Promise.reject(new Error('down')) }),
    })
    plain.put({ ...begun, state: 'confirmed' })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain).consumedBy).toBeNull()
  })

  it('is pending with the hash when the journal falls silent while a retry waits', async () => {
    const { plain, attempt } = setup({
      waitMs: 20,
      journal: () => ({ find: () => Promise.reject(new Error('down')) }),
    })
    plain.put(begun)
    expect(await attempt()).toMatchObject(pendingAnswer)
  })

  it('is told again to the same Idempotency-Key, however often it asks', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...begun, state: 'confirmed', consumedBy: 'key:anonymous:order-1' })
    for (let retry = 0; retry < 3; retry++) {
      expect(await attempt({ consumer: 'key:anonymous:order-1' })).toMatchObject({ success: true })
    }
    expect(await attempt({ consumer: 'key:anonymous:order-2' })).toMatchObject(duplicateAnswer)
  })

  it('is told as failed to a retry that waited for it', async () => {
    const { plain, attempt } = setup({
      onPause: (journal) => {
        const [row] = journal.list()
        if (row !== undefined)
          journal.change(row.id, { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' })
      },
    })
    plain.put(begun)
    expect(await attempt()).toMatchObject({
      success: false,
      status: 'failed',
      errorReason: 'invalid_exact_evm_transaction_failed',
    })
  })

  it('is pending with the hash when the wait ends first', async () => {
    const { plain, attempt } = setup({ waitMs: 20 })
    const { id } = plain.put(begun)
    expect(await attempt()).toMatchObject({ ...pendingAnswer, settlementId: id })
    expect(onlyRow(plain)).toMatchObject(begun)
  })

  it('is begun anew when its process died before it recorded anything', async () => {
    const { plain, attempt } = setup()
    plain.put({ isOwned: false })
    expect((await attempt()).success).toBe(true)
    expect(plain.list().map(({ state, reason }) => ({ state, reason }))).toEqual([
      { state: 'failed', reason: 'settlement_abandoned' },
      { state: 'confirmed', reason: null },
    ])
  })

  it('is begun anew by another caller too when its process died before it recorded anything', async () => {
    const { plain, attempt } = setup()
    plain.put({ isOwned: false, caller: 'key-2', fingerprint: 'g' })
    expect((await attempt()).success).toBe(true)
  })

  it('is begun anew when its row vanishes while a retry waits', async () => {
    const { plain, attempt } = setup({
      onPause: (journal) => {
        for (const { id } of journal.list()) journal.change(id, null)
      },
    })
    plain.put(begun)
    expect((await attempt()).success).toBe(true)
  })

  it('is joined when it began between our look and our claim', async () => {
    let claims = 0
    const { attempt } = setup({
      journal: (plain) => ({
        claim: async (claim) => {
          claims += 1
          plain.put({ ...claim, state: 'confirmed', transaction: 'tx-9' })
          return null
        },
      }),
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-9' })
    expect(claims).toBe(1)
  })

  it('is told truly when it settled while we verified, and the chain now refuses it', async () => {
    const { plain, attempt } = setup({
      scheme: {
        verify: async () => {
          plain.put({ ...begun, state: 'confirmed' })
          return { isValid: false, payer: 'alice', reason: 'invalid_exact_evm_nonce_already_used' }
        },
      },
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-1' })
  })

  it('is left to the others when it changes hands again and again', async () => {
    const { attempt } = setup({ journal: () => ({ claim: async () => null }) })
    await expect(attempt()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 })
  })
})

describe('many requests for one authorization at once', () => {
  it('send once, and one of them is told success', async () => {
    let sends = 0
    const { plain, attempt } = setup({
      scheme: afterRecording(async () => {
        sends += 1
        await drainEventLoop()
        return { state: 'confirmed', transaction: 'tx-1' }
      }),
    })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => attempt({ consumer: `request:${index}` })),
    )
    expect(sends).toBe(1)
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ errorReason }) => errorReason === 'duplicate_settlement')).toHaveLength(19)
    expect(onlyRow(plain).state).toBe('confirmed')
  })
})

describe('one who asks for much at once', () => {
  /** Settlements that end when the test says so. */
  const slow = () => {
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const scheme: ToyScript = {
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: recorder.settlementId, bytes: 'bytes' })
        await finished
        return { state: 'confirmed', transaction: recorder.settlementId }
      },
    }
    return { scheme, finish: () => finish() }
  }
  const tooMany = { code: 'RATE_LIMITED', retryAfterSeconds: 1 }

  it.each([
    ['payer', { settlesAtOncePerPayer: 2, settlesAtOncePerCaller: 0 }],
    ['caller', { settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 2 }],
  ])('as a %s is refused beyond the limit, keeps what is under way, and may come back', async (_, atOnce) => {
    const { scheme, finish } = slow()
    const { plain, attempt } = setup({ scheme, atOnce })
    const begun = ['1', '2'].map((nonce) => attempt({ body: toyBody(nonce), consumer: nonce }))
    await drainEventLoop()
    await expect(attempt({ body: toyBody('3'), consumer: '3' })).rejects.toMatchObject(tooMany)
    expect(plain.list()).toHaveLength(2)
    finish()
    expect(await Promise.all(begun)).toEqual([
      expect.objectContaining({ success: true }),
      expect.objectContaining({ success: true }),
    ])
    expect(await attempt({ body: toyBody('3'), consumer: '3' })).toMatchObject({ success: true })
  })
})

describe('a settlement of an account', () => {
  const account = { caller: 'account-1', quota: { accountId: 'account-1', tier: 'builder' } } as const
  const exhausted = () => new AppError('QUOTA_EXCEEDED', 'used up', { retryAfterSeconds: 60 })

  it('is claimed against the quota of its tier, in the month of the claim', async () => {
    const quotas: unknown[] = []
    const { attempt } = setup({
      journal: (plain) => ({
        claim: (claim, quota) => {
          quotas.push(quota)
          return plain.claim(claim)
        },
      }),
    })
    await attempt(account)
    await attempt({ body: toyBody('nonce-2') })
    expect(quotas).toEqual([{ tier: 'builder', at: new Date('2026-01-01T00:00:00Z') }, null])
  })

  it('is refused when nothing is left, and nothing is sent', async () => {
    const { plain, attempt } = setup({
      journal: () => ({ claim: () => Promise.reject(exhausted()) }),
    })
    await expect(attempt(account)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 60 })
    expect(plain.list()).toEqual([])
  })

  it('that was claimed before is joined, also when nothing is left', async () => {
    const { attempt } = setup({
      journal: (plain) => ({
        claim: async (claim) => {
          if (plain.list().length > 0) throw exhausted()
          return await plain.claim(claim)
        },
      }),
    })
    await attempt(account)
    expect(await attempt(account)).toMatchObject({ success: true })
    await expect(attempt({ ...account, body: toyBody('nonce-2') })).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
    })
  })
})
