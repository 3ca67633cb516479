import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../src/errors.js'
import type { QuotaClaim } from '../../../src/ports/quotas.js'
import type { Recorder, Settlement, SettlementJournal } from '../../../src/ports/settlementJournal.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { tiers } from '../../../src/protocol/tiers.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Outcome, Refusal } from '../../../src/schemes/scheme.js'
import {
  type ConcurrencyLimitSettings,
  createConcurrencyLimits,
  findDollarDecimals,
  type SpendingLimits,
} from '../../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import type { SettleAttempt } from '../../../src/usecases/core/settle/settlementContext.js'
import { createHoldFunds, type HoldFunds } from '../../../src/usecases/core/verify/holdFunds.js'
import type { FindStreamed } from '../../../src/usecases/core/verify/streamedChannels.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { createMemoryHolds } from '../../support/memoryHolds.js'
import { createMemoryJournal, type MemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import {
  createToyScheme,
  type ToyScript,
  type ToySettle,
  toyAuthorized,
  toyBody,
} from '../../support/toyScheme.js'

const startOfTime = new Date('2026-01-01T00:00:00Z')

/** Deviations from a world in which everything succeeds. */
interface World {
  readonly scheme?: ToyScript
  /** Overrides of journal methods; they receive the real journal. */
  readonly journal?: (plain: MemoryJournal) => Partial<SettlementJournal>
  readonly spend?: SpendingLimits['spend']
  readonly holdFunds?: HoldFunds
  readonly findStreamed?: FindStreamed
  readonly waitMs?: number
  readonly atOnce?: ConcurrencyLimitSettings
  /** Called at each poll of a request that waits for another request's settlement. */
  readonly onPause?: (plain: MemoryJournal) => void
}

const setup = ({
  scheme = {},
  journal = () => ({}),
  spend = async () => () => undefined,
  holdFunds = async (_payment, verdict) => verdict,
  findStreamed = async () => null,
  waitMs = waitLimitMs,
  atOnce = { settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 },
  onPause,
}: World = {}) => {
  const plain = createMemoryJournal()
  const logger = createMemoryLogger()
  const settle = createSettleAuthorization({
    holdFunds,
    findStreamed,
    registry: createSchemeRegistry([createToyScheme(scheme)]),
    journal: { ...plain, ...journal(plain) },
    limits: { ...noSpendingLimits, spend },
    concurrency: createConcurrencyLimits(atOnce),
    // Sleeps take no time; they only yield.
    clock: {
      now: () => startOfTime,
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
      isAwaited?: () => boolean
    } & Pick<SettleAttempt, 'onClaimed' | 'isBodyBound' | 'holdPurpose' | 'requester'> & {
        isAdmitted?: boolean
        isUrgent?: boolean
        admit?: NonNullable<SettleAttempt['admit']>
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

const sendOnce = async (recorder: Recorder): Promise<Outcome> => {
  await recorder.record({ transaction: `tx of ${recorder.settlementId}`, bytes: 'bytes' })
  return { state: 'confirmed', transaction: `tx of ${recorder.settlementId}` }
}

/** A scheme that records, then runs `next`. */
const afterRecording = (next: () => ReturnType<ToySettle>): ToyScript => ({
  settle: async (_payment, recorder) => {
    await recorder.record(sent)
    return await next()
  },
})

const down = () => Promise.reject(new Error('down'))

/** The journal writes what `write` does, and its answer is lost. */
const losingAnswer =
  <Given extends unknown[]>(write: (...given: Given) => Promise<unknown>) =>
  async (...given: Given): Promise<never> => {
    await write(...given)
    throw new Error('the answer to the commit was lost')
  }
const losingCloses = ({ close }: MemoryJournal) => ({ close: losingAnswer(close) })
const losingRecords = ({ recorderFor }: MemoryJournal) => ({
  recorderFor: (settlementId: string) => ({
    settlementId,
    record: losingAnswer(() => recorderFor(settlementId).record(sent)),
  }),
})

/** Every row becomes so while a request waits. */
const changeAll = (fields: Partial<Settlement> | null) => (journal: MemoryJournal) => {
  for (const { id } of journal.list()) journal.change(id, fields)
}

const deferred = () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  return { finished, finish: () => finish() }
}

const sendAs = (state: 'confirmed' | 'pending') =>
  afterRecording(async () => ({ state, transaction: 'tx-1' }))

const pendingAnswer = {
  success: false,
  errorReason: 'settlement_pending',
  status: 'pending',
  transaction: 'tx-1',
  network: 'toy:1',
  payer: 'alice',
}
const laterThan = (time: Date): Date => new Date(time.getTime() + 1)

describe('a failure', () => {
  const tx = { transaction: 'tx-1' }
  const tooLittle = 'transfer_event_mismatch'
  const reverted = 'invalid_exact_evm_transaction_failed'
  const failing = (outcome: Outcome, expiresAt: Date | null = null) =>
    setup({
      scheme: {
        verify: async (payment) => toyAuthorized(payment, { expiresAt, settle: async () => outcome }),
      },
    })

  it.each([
    ['of the state of the chain is retryable', 'insufficient_funds', {}, null, true],
    ['is retryable until the authorization expires', 'insufficient_funds', {}, laterThan(startOfTime), true],
    ['is final once the authorization has expired', 'insufficient_funds', {}, startOfTime, false],
    ['of the payment itself is final', 'transaction_failed', tx, null, false],
    ['of a token that credits too little is retryable while nothing was sent', tooLittle, {}, null, true],
    ['of a token that credited too little is final', tooLittle, tx, null, false],
    ['of a transaction that reverted is retryable, as its authorization is', reverted, tx, null, true],
  ] as const)('%s', async (_, reason, transaction, expiresAt, retryable) => {
    const { attempt } = failing({ state: 'failed', reason, ...transaction }, expiresAt)
    expect(await attempt()).toMatchObject({ status: 'failed', errorReason: reason, retryable })
  })
})

const duplicateAnswer = {
  success: false,
  errorReason: 'duplicate_settlement',
  network: 'toy:1',
  payer: 'alice',
}

describe('a successful settlement', () => {
  it('is claimed, recorded, closed, and answered to its request', async () => {
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

  it('is claimed before the scheme can send', async () => {
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

  it('is logged without payload and signed bytes', async () => {
    const { logger, attempt } = setup()
    await attempt()
    expect(JSON.stringify(logger.lines)).not.toContain('bytes-1')
    expect(JSON.stringify(logger.lines)).not.toContain('payload')
  })
})

describe('a scheme that settles a part of what was authorized', () => {
  /** Settled part of the toy payment, which authorizes 10000. */
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

  it('moves that part, and the journal contains both amounts, the gas and the details of the scheme', async () => {
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

  it('reports the amount proven on chain if it is lower, also to a retry and in the log', async () => {
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

  it('settles 0: nothing is recorded, the authorization is used up, and another amount is a duplicate_settlement', async () => {
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

  it("claims the proof: the result contains the payer's transaction, and nothing is recorded", async () => {
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

  it('claims each proof at most once', async () => {
    const { plain, attempt } = setup({ scheme: claiming })
    const answers = await Promise.all(
      ['1', '2', '3'].map((who) => attempt({ fingerprint: who, consumer: `request:${who}` })),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ success }) => !success)).toMatchObject([duplicateAnswer, duplicateAnswer])
    expect(plain.list()).toHaveLength(1)
  })

  it('answers the stored success if the close was written and its response was lost', async () => {
    const { attempt } = setup({
      scheme: claiming,
      journal: losingCloses,
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: paid })
  })

  it('answers settlement_pending if the claim cannot be closed, and the proof can be claimed again', async () => {
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

describe('a refused payment', () => {
  it('on an unsupported network leaves no row', async () => {
    const { plain, attempt } = setup()
    expect(await attempt({ body: toyBody('nonce-1', 'toy:2') })).toMatchObject({
      success: false,
      errorReason: 'invalid_network',
      transaction: '',
    })
    expect(plain.list()).toEqual([])
  })

  it('that the scheme refuses leaves no row; the result contains reason and payer', async () => {
    const { plain, attempt } = setup({
      scheme: { verify: async () => ({ isValid: false, payer: 'alice', reason: 'insufficient_funds' }) },
    })
    expect(await attempt()).toEqual({
      success: false,
      errorReason: 'insufficient_funds',
      errorMessage: "The payer's token balance is lower than the payment",
      operationalCode: 'SVC-3003',
      retryable: true,
      transaction: '',
      network: 'toy:1',
      payer: 'alice',
    })
    expect(plain.list()).toEqual([])
  })

  const exhausted = () => Promise.reject(new AppError('QUOTA_EXCEEDED', 'The quota is used up'))
  const fails: Outcome = { state: 'failed', reason: 'transaction_failed' }
  const spendings: readonly (readonly [string, boolean, World])[] = [
    ['the claim is over quota', false, { journal: () => ({ claim: exhausted }) }],
    ['another request has the authorization', false, { journal: () => ({ claim: async () => null }) }],
    ['it fails before anything is sent', false, { scheme: { settle: async () => fails } }],
    ['it is sent and pays', true, {}],
    ['it is sent and fails', true, { scheme: afterRecording(async () => fails) }],
    ['it is sent and pending', true, { scheme: afterRecording(() => Promise.reject(new Error('cut'))) }],
  ]
  it.each(spendings)('counts against the spending limits only if something was sent: %s', async (...test) => {
    const [, counts, world] = test
    let refunds = 0
    const spend = async () => () => {
      refunds += 1
    }
    const { attempt } = setup({ ...world, spend })
    await attempt().catch(() => undefined)
    expect(refunds > 0).toBe(!counts)
  })

  it('over the spending limit leaves no row and throws RATE_LIMITED', async () => {
    const limited = new AppError('RATE_LIMITED', 'Too many')
    const { plain, attempt } = setup({ spend: () => Promise.reject(limited) })
    await expect(attempt()).rejects.toBe(limited)
    expect(plain.list()).toEqual([])
  })

  it.each([{ isAdmitted: true }, { isUrgent: true }])(
    'that was admitted earlier, or cannot wait, is not counted against the spending limit: %o',
    async (terms) => {
      const { attempt } = setup({ spend: () => Promise.reject(new AppError('RATE_LIMITED', 'Too many')) })
      expect(await attempt(terms)).toMatchObject({ success: true })
    },
  )

  it.each([
    { isUrgent: true, urgentFor: 'account-1' },
    { isUrgent: false, urgentFor: null },
  ])(
    '$isUrgent: that cannot wait is urgent for its account, also where another asks for it',
    async ({ isUrgent, urgentFor }) => {
      const seen: unknown[] = []
      const { attempt } = setup({
        scheme: {
          settle: async (_payment, recorder, options) => {
            seen.push([options.caller, options.urgentFor])
            return await sendOnce(recorder)
          },
        },
      })
      const requester = { name: 'channels of account-1', site: null }
      expect(await attempt({ caller: 'account-1', requester, isUrgent })).toMatchObject({ success: true })
      expect(seen).toEqual([['channels of account-1', urgentFor]])
    },
  )

  it('that is not admitted leaves no row and answers why', async () => {
    const { plain, attempt } = setup()
    const seen: string[] = []
    const admit: SettleAttempt['admit'] = async ({ authorizationId, payer }) => {
      seen.push(authorizationId)
      return {
        isValid: false,
        payer,
        reason: 'invalid_exact_evm_payload_recipient_mismatch',
        message: 'Not you',
      }
    }
    const refused = { success: false, errorMessage: 'Not you', payer: 'alice' }
    expect(await attempt({ admit })).toMatchObject(refused)
    expect(seen).toEqual(['toy:1/nonce-1'])
    expect(plain.list()).toEqual([])
    expect(await attempt({ admit: async () => null })).toMatchObject({ success: true })
  })

  it('records one spelling for each wallet, and decimals of a dollar', async () => {
    const { plain, attempt } = setup({
      scheme: {
        network: {
          normalizeAddress: (address) => address.toUpperCase(),
          listTokens: () => [{ asset: 'gold', symbol: 'USDC', decimals: 6, isDollar: true }],
        },
      },
    })
    await attempt()
    expect(onlyRow(plain)).toMatchObject({ wallets: { payer: 'ALICE', payee: 'BOB' }, dollarDecimals: 6 })
  })

  it.each([
    ['an unknown token', { asset: 'silver' }, {}],
    ['a token that is no dollar', { isDollar: false }, {}],
    ['a testnet beside a mainnet', {}, { isTestnet: true }],
  ])('records no worth of %s', (_, token, facts) => {
    const dollar = { asset: 'gold', symbol: 'USDC', decimals: 6, isDollar: true, ...token }
    const testnet = createToyScheme({ network: { listTokens: () => [dollar], ...facts } })
    const mainnet = createToyScheme({ kind: { scheme: 'exact', network: 'toy:2' } })
    expect(findDollarDecimals(createSchemeRegistry([testnet, mainnet]), testnet, 'gold')).toBeNull()
  })

  it('records the worth on a testnet where there is nothing else', () => {
    const gold = { asset: '0xAA', symbol: 'USDC', decimals: 18, isDollar: true }
    const testnet = createToyScheme({ network: { listTokens: () => [gold], isTestnet: true } })
    expect(findDollarDecimals(createSchemeRegistry([testnet]), testnet, '0xaa')).toBe(18)
  })

  it('with a failure proven on chain is answered as failed and can be settled again', async () => {
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

  it('of the scheme abandons the claim, and the payment can be retried', async () => {
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

  it('that the scheme throws as an AppError is passed on', async () => {
    const unavailable = new AppError('SERVICE_UNAVAILABLE', 'toy:1 is not settling', {
      retryAfterSeconds: 10,
    })
    const { plain, attempt } = setup({ scheme: { settle: () => Promise.reject(unavailable) } })
    await expect(attempt()).rejects.toBe(unavailable)
    expect(onlyRow(plain).state).toBe('failed')
  })

  it('is answered even if the claim cannot be abandoned; the reconciler abandons it later', async () => {
    const { plain, logger, attempt } = setup({
      scheme: { settle: () => Promise.reject(new Error('no node answers')) },
      journal: () => ({ abandon: down }),
    })
    await expect(attempt()).rejects.toMatchObject(nothingSent)
    expect(onlyRow(plain).state).toBe('claimed')
    expect(logger.messages()).toContain('settlement.abandon_failed')
  })

  it('of a recorder that did record is settlement_pending with the hash: those bytes will be sent', async () => {
    const { plain, attempt } = setup({ scheme: sendAs('confirmed'), journal: losingRecords })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', isOwned: false })
  })

  it('of a recorder that did record releases the row to the reconciler even if it cannot be read', async () => {
    const { plain, attempt } = setup({
      scheme: sendAs('confirmed'),
      journal: (journal) => ({ ...losingRecords(journal), find: down }),
    })
    await expect(attempt()).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' })
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', isOwned: false })
  })

  it.each([
    ['verify', { scheme: { verify: () => Promise.reject(new Error('broken')) } }],
    [
      'the read of an earlier row',
      { journal: () => ({ findOpen: () => Promise.reject(new Error('broken')) }) },
    ],
    ['the claim', { journal: () => ({ claim: () => Promise.reject(new Error('broken')) }) }],
  ] satisfies [string, World][])('of %s leaves no row', async (_, world) => {
    const { plain, attempt } = setup(world)
    await expect(attempt()).rejects.toMatchObject({ ...nothingSent, cause: new Error('broken') })
    expect(plain.list()).toEqual([])
  })

  it('of verify to finish within the wait leaves no row', async () => {
    const { plain, attempt } = setup({ waitMs: 20, scheme: { verify: () => new Promise(() => undefined) } })
    await expect(attempt()).rejects.toMatchObject(nothingSent)
    expect(plain.list()).toEqual([])
  })

  it('of the recorder sends nothing and abandons the claim', async () => {
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
  it('of the scheme is settlement_pending with the hash, and the reconciler owns the row', async () => {
    const { plain, attempt } = setup({ scheme: afterRecording(() => Promise.reject(new Error('lost'))) })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', transaction: 'tx-1', isOwned: false })
    expect(await plain.listOrphaned(10)).toHaveLength(1)
  })

  const sendThenFail = (...records: readonly Parameters<Recorder['record']>[]): ToyScript => ({
    settle: async (_payment, recorder) => {
      for (const record of records) await recorder.record(...record)
      throw new Error('lost')
    },
  })
  it.each<[string, World]>([
    ['of the scheme in a signer lane is', { scheme: sendThenFail([sent, async () => {}]) }],
    [
      'contains the newest transaction if several were recorded: it is',
      { scheme: sendThenFail([{ transaction: 'tx-0', bytes: 'bytes-0' }], [sent]) },
    ],
    [
      'of the journal to release a pending payment is',
      { scheme: sendAs('pending'), journal: () => ({ release: down }) },
    ],
  ])('%s settlement_pending with the hash', async (_, world) => {
    expect(await setup(world).attempt()).toMatchObject(pendingAnswer)
  })

  it('of the journal to close a confirmed payment is settlement_pending: success requires the closed row', async () => {
    const { plain, logger, attempt } = setup({ journal: () => ({ close: down }) })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain)).toMatchObject({ state: 'pending', consumedBy: null })
    expect(logger.messages()).toContain('settlement.close_failed')
  })

  it('of the journal after it closed the row is the stored success', async () => {
    const { plain, attempt } = setup({
      journal: losingCloses,
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-1' })
    expect(onlyRow(plain)).toMatchObject({ state: 'confirmed', consumedBy: 'request:1' })
    expect(await attempt({ consumer: 'request:2' })).toMatchObject(duplicateAnswer)
  })
})

describe('a row that the reconciler closed first', () => {
  const closeLater = (fields: Partial<Settlement> | null) => (plain: MemoryJournal) => ({
    close: async (id: string) => {
      plain.change(id, fields)
      return false
    },
  })
  const confirmed = { state: 'confirmed', transaction: 'tx-2' } as const
  const failed = { state: 'failed', reason: 'authorization_expired_unsettled' } as const

  it('as confirmed is success for its request, once', async () => {
    const { plain, attempt } = setup({ journal: closeLater({ ...confirmed, isOwned: false }) })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-2' })
    expect(onlyRow(plain).consumedBy).toBe('request:1')
    const second = await attempt({ consumer: 'request:2' })
    expect(second).toMatchObject({ ...duplicateAnswer, transaction: 'tx-2' })
  })

  it.each<[string, Partial<Settlement> | null, object]>([
    [
      'as confirmed, and consumed by another request, is a duplicate_settlement',
      { ...confirmed, consumedBy: 'request:0' },
      { ...duplicateAnswer, transaction: 'tx-2' },
    ],
    [
      'as failed is that failure, whatever the scheme returned',
      failed,
      { success: false, status: 'failed', errorReason: failed.reason },
    ],
    [
      'is never success if the row no longer exists',
      null,
      { success: false, errorReason: 'settlement_pending', status: 'pending' },
    ],
  ])('%s', async (_, fields, answer) => {
    const { attempt } = setup({ journal: closeLater(fields) })
    expect(await attempt()).toMatchObject(answer)
  })
})

describe('a payment whose block was orphaned after `success: true` was answered', () => {
  const reopened: Partial<Settlement> = {
    state: 'pending',
    transaction: 'tx-1',
    isOwned: false,
    consumedBy: 'request:0',
  }

  it('is settlement_pending to a retry of its request, and duplicate_settlement to any other', async () => {
    const { plain, attempt } = setup({ waitMs: 1 })
    plain.put(reopened)
    expect(await attempt()).toMatchObject({ ...pendingAnswer, retryable: true })
    expect(await attempt({ caller: 'key-2' })).toMatchObject({ ...duplicateAnswer, retryable: false })
  })

  it('is not retryable once it is lost, whatever it failed for', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...reopened, state: 'failed', reason: 'insufficient_funds' })
    expect(await attempt()).toMatchObject({ errorReason: 'insufficient_funds', retryable: false })
  })

  it('is duplicate_settlement to a retry of its request once it is confirmed again', async () => {
    const { plain, attempt } = setup({ onPause: changeAll({ state: 'confirmed' }) })
    plain.put(reopened)
    expect(await attempt()).toMatchObject(duplicateAnswer)
    expect(onlyRow(plain).consumedBy).toBe('request:0')
  })

  it('is success again to the same Idempotency-Key once it is confirmed again', async () => {
    const { plain, attempt } = setup({ onPause: changeAll({ state: 'confirmed' }) })
    plain.put(reopened)
    expect(await attempt({ consumer: 'request:0' })).toMatchObject({ success: true })
  })

  it('is answered as failed if it is lost, and never settled again', async () => {
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
    'is settlement_pending to its first request, which finds it %s only later',
    async (state) => {
      const { plain, logger, attempt } = setup({
        scheme: afterRecording(async () => {
          // In between another request was answered success, and then the block was orphaned.
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

describe('an authorization that another request is settling', () => {
  const recordedRow = { state: 'pending', transaction: 'tx-1', broadcasts: [sent] } as const

  it.each([
    ['another caller', { caller: 'key-2' }],
    ['another request', { fingerprint: 'g' }],
  ])('is duplicate_settlement for %s, with the hash, immediately', async (_, changes) => {
    const { plain, attempt } = setup({ onPause: () => expect.unreachable('must not wait') })
    const { id } = plain.put(recordedRow)
    expect(await attempt(changes)).toMatchObject({
      ...duplicateAnswer,
      transaction: 'tx-1',
      settlementId: id,
      // The settlement can still fail.
      retryable: true,
    })
  })

  it('is not retryable for another request after the authorization has expired', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...recordedRow, expiresAt: startOfTime })
    expect(await attempt({ caller: 'key-2' })).toMatchObject({ ...duplicateAnswer, retryable: false })
  })

  it('is duplicate_settlement without a hash while nothing was recorded', async () => {
    const { plain, attempt } = setup()
    plain.put({})
    expect(await attempt({ fingerprint: 'g' })).toMatchObject({ ...duplicateAnswer, transaction: '' })
  })

  it('is duplicate_settlement for another caller when confirmed, consumed or not', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...recordedRow, state: 'confirmed' })
    expect(await attempt({ caller: 'key-2' })).toMatchObject({
      ...duplicateAnswer,
      transaction: 'tx-1',
      retryable: false,
    })
    expect(onlyRow(plain).consumedBy).toBeNull()
  })

  it('is joined by a retry of the same request, and success to exactly one of them', async () => {
    let pauses = 0
    const { plain, attempt } = setup({
      onPause: (journal) => {
        pauses += 1
        const [row] = journal.list()
        if (pauses === 3 && row !== undefined) journal.change(row.id, { state: 'confirmed' })
      },
    })
    const { id } = plain.put(recordedRow)
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

  it('is settled again by a retry if the first abandoned its claim', async () => {
    const onPause = changeAll({ state: 'failed', reason: 'settlement_abandoned' })
    const { plain, attempt } = setup({ onPause })
    plain.put({})
    expect(await attempt({ consumer: 'request:2' })).toMatchObject({ success: true, transaction: 'tx-1' })
    expect(plain.list().map(({ state }) => state)).toEqual(['failed', 'confirmed'])
  })

  it('is success to the recorded consumer although the response to consume was lost', async () => {
    const { plain, attempt } = setup({ journal: ({ consume }) => ({ consume: losingAnswer(consume) }) })
    plain.put({ ...recordedRow, state: 'confirmed' })
    expect(await attempt({ consumer: 'request:2' })).toMatchObject({ success: true })
    expect(await attempt({ consumer: 'request:3' })).toMatchObject(duplicateAnswer)
  })

  it('is settlement_pending with the hash while the consumer cannot be read', async () => {
    const { plain, attempt } = setup({ journal: () => ({ consume: down }) })
    plain.put({ ...recordedRow, state: 'confirmed' })
    expect(await attempt()).toMatchObject(pendingAnswer)
    expect(onlyRow(plain).consumedBy).toBeNull()
  })

  it('is settlement_pending with the hash if the journal fails while a retry waits', async () => {
    const { plain, attempt } = setup({ waitMs: 20, journal: () => ({ find: down }) })
    plain.put(recordedRow)
    expect(await attempt()).toMatchObject(pendingAnswer)
  })

  it('is success to the same Idempotency-Key on every retry', async () => {
    const { plain, attempt } = setup()
    plain.put({ ...recordedRow, state: 'confirmed', consumedBy: 'key:anonymous:order-1' })
    for (let retry = 0; retry < 3; retry++) {
      expect(await attempt({ consumer: 'key:anonymous:order-1' })).toMatchObject({ success: true })
    }
    expect(await attempt({ consumer: 'key:anonymous:order-2' })).toMatchObject(duplicateAnswer)
  })

  it('is answered as failed to a retry that waited for it', async () => {
    const reason = 'invalid_exact_evm_transaction_failed'
    const { plain, attempt } = setup({ onPause: changeAll({ state: 'failed', reason }) })
    plain.put(recordedRow)
    expect(await attempt()).toMatchObject({ success: false, status: 'failed', errorReason: reason })
  })

  it('is settlement_pending with the hash when the wait ends first', async () => {
    const { plain, attempt } = setup({ waitMs: 20 })
    const { id } = plain.put(recordedRow)
    expect(await attempt()).toMatchObject({ ...pendingAnswer, settlementId: id })
    expect(onlyRow(plain)).toMatchObject(recordedRow)
  })

  it('is settled again if its process died before a recording', async () => {
    const { plain, attempt } = setup()
    plain.put({ isOwned: false })
    expect((await attempt()).success).toBe(true)
    expect(plain.list().map(({ state, reason }) => ({ state, reason }))).toEqual([
      { state: 'failed', reason: 'settlement_abandoned' },
      { state: 'confirmed', reason: null },
    ])
  })

  it('is settled again by another caller too if its process died before a recording', async () => {
    const { plain, attempt } = setup()
    plain.put({ isOwned: false, caller: 'key-2', fingerprint: 'g' })
    expect((await attempt()).success).toBe(true)
  })

  it('is settled again if its row disappears while a retry waits', async () => {
    const { plain, attempt } = setup({ onPause: changeAll(null) })
    plain.put(recordedRow)
    expect((await attempt()).success).toBe(true)
  })

  it('is joined if it was claimed between find and claim', async () => {
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

  it('is answered from the journal if it settled during verify, although the chain now refuses it', async () => {
    const { plain, attempt } = setup({
      scheme: {
        verify: async () => {
          plain.put({ ...recordedRow, state: 'confirmed' })
          return { isValid: false, payer: 'alice', reason: 'invalid_exact_evm_nonce_already_used' }
        },
      },
    })
    expect(await attempt()).toMatchObject({ success: true, transaction: 'tx-1' })
  })

  it('throws SERVICE_UNAVAILABLE if it changes owner repeatedly', async () => {
    const { attempt } = setup({ journal: () => ({ claim: async () => null }) })
    await expect(attempt()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 })
  })
})

describe('many requests for one authorization at once', () => {
  it('send once, and exactly one is answered success', async () => {
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

describe('concurrent settlements', () => {
  /** Settlements that the test completes. */
  const slow = () => {
    const { finished, finish } = deferred()
    const scheme: ToyScript = {
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: recorder.settlementId, bytes: 'bytes' })
        await finished
        return { state: 'confirmed', transaction: recorder.settlementId }
      },
    }
    return { scheme, finish }
  }
  const tooMany = { code: 'RATE_LIMITED', retryAfterSeconds: 1 }

  it.each([
    ['payer', { settlesAtOncePerPayer: 2, settlesAtOncePerCaller: 0 }],
    ['caller', { settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 2 }],
  ])('of a %s are rejected beyond the limit, and accepted again once one completes', async (_, atOnce) => {
    const { scheme, finish } = slow()
    const { plain, attempt } = setup({ scheme, atOnce })
    const recordedRow = ['1', '2'].map((nonce) => attempt({ body: toyBody(nonce), consumer: nonce }))
    await drainEventLoop()
    await expect(attempt({ body: toyBody('3'), consumer: '3' })).rejects.toMatchObject(tooMany)
    expect(plain.list()).toHaveLength(2)
    finish()
    expect(await Promise.all(recordedRow)).toEqual([
      expect.objectContaining({ success: true }),
      expect.objectContaining({ success: true }),
    ])
    expect(await attempt({ body: toyBody('3'), consumer: '3' })).toMatchObject({ success: true })
  })
})

describe('a settlement of an account', () => {
  const account = { caller: 'account-1', quota: { accountId: 'account-1', tier: tiers.builder } } as const
  const exhausted = () => new AppError('QUOTA_EXCEEDED', 'used up', { retryAfterSeconds: 60 })

  it('counts against the quota of its tier, in the month of the claim', async () => {
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
    const at = new Date('2026-01-01T00:00:00Z')
    expect(quotas).toEqual([{ customer: account.quota.accountId, tier: tiers.builder, at }, null])
  })

  it('is rejected when the quota is used up, and nothing is sent', async () => {
    const { plain, attempt } = setup({
      journal: () => ({ claim: () => Promise.reject(exhausted()) }),
    })
    await expect(attempt(account)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 60 })
    expect(plain.list()).toEqual([])
  })

  it('that was claimed before is joined, even if the quota is used up', async () => {
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

describe('settlements of several accounts of one customer', () => {
  const of = (accountId: string, body: ReturnType<typeof toyBody>) =>
    ({
      caller: accountId,
      quota: { accountId, customer: 'mailbox-1', tier: tiers.builder },
      consumer: accountId,
      body,
    }) as const

  it('are counted together by the limits of payers and recipients', async () => {
    const customers: unknown[] = []
    const { attempt } = setup({
      spend: async (_payment, { customer }) => {
        customers.push(customer)
        return () => undefined
      },
    })
    await attempt(of('one', toyBody('1')))
    await attempt(of('two', toyBody('2')))
    await attempt({ body: toyBody('3') })
    expect(customers).toEqual(['mailbox-1', 'mailbox-1', 'anonymous'])
  })

  it('share what may run at once', async () => {
    const { finished, finish } = deferred()
    const { attempt } = setup({
      atOnce: { settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 1 },
      scheme: {
        settle: async (_payment, recorder) => {
          await finished
          return await sendOnce(recorder)
        },
      },
    })
    const first = attempt(of('one', toyBody('1')))
    await expect(attempt(of('two', toyBody('2')))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    finish()
    expect(await first).toMatchObject({ success: true })
    expect(await attempt(of('two', toyBody('2')))).toMatchObject({ success: true })
  })

  it.each([
    ['of the customer', undefined, 'mailbox-1'],
    ['of the customer that the request names', { name: 'mailbox-1', site: null }, 'mailbox-1'],
    ['of the address', { name: 'unproven 192.0.2.1', site: null }, 'unproven 192.0.2.1'],
    [
      'of the IPv6 site',
      { name: 'unproven 2001:db8:1:2::/64', site: 'unproven 2001:db8:1::/48' },
      'unproven 2001:db8:1::/48',
    ],
  ])('use the part of a budget %s', async (_whose, requester, part) => {
    const spenders: unknown[] = []
    const { attempt } = setup({
      scheme: {
        settle: async (_payment, recorder, { caller }) => {
          spenders.push(caller)
          return await sendOnce(recorder)
        },
      },
    })
    for (const accountId of ['one', 'two']) {
      await attempt({
        ...of(accountId, toyBody(accountId)),
        ...(requester === undefined ? {} : { requester }),
      })
    }
    await attempt({ body: toyBody('3'), requester: { name: '192.0.2.1', site: null } })
    expect(spenders).toEqual([part, part, 'anonymous'])
  })
})

describe('a settlement that was answered settlement_pending', () => {
  const account = { caller: 'account-1' }
  const bodyWith = (changes: Readonly<Record<string, unknown>>) => {
    const { paymentPayload, paymentRequirements } = toyBody()
    return wirePaymentRequest.parse({
      paymentPayload: { ...paymentPayload, accepted: { ...paymentRequirements, ...changes } },
      paymentRequirements: { ...paymentRequirements, ...changes },
    })
  }
  /** Answered pending to `first`, then confirmed by the reconciler: the success was not received. */
  const settleLater = async (first: Parameters<ReturnType<typeof setup>['attempt']>[0]) => {
    const { plain, attempt, logger } = setup({
      scheme: sendAs('pending'),
    })
    expect(await attempt(first)).toMatchObject({ status: 'pending' })
    await plain.close(onlyRow(plain).id, { state: 'confirmed', transaction: 'tx-1' })
    return { plain, attempt, logger }
  }

  it('is success once for the same account with another body of the same proof', async () => {
    const { attempt } = await settleLater(account)
    const later = { ...account, fingerprint: 'g', body: bodyWith({ maxTimeoutSeconds: 90 }) }
    expect(await attempt({ ...later, consumer: 'request:2' })).toMatchObject({
      success: true,
      transaction: 'tx-1',
    })
    expect(await attempt({ ...later, consumer: 'request:3' })).toMatchObject({
      ...duplicateAnswer,
      transaction: 'tx-1',
    })
  })

  it.each([
    ['another account', { caller: 'account-2' }],
    ['the same body without a key', { caller: 'anonymous' }],
    ['another proof of the same authorization', { fingerprint: 'g', body: forgedProof }],
    ['a smaller amount', { fingerprint: 'g', body: () => bodyWith({ amount: '9999' }) }],
    ['a larger amount', { fingerprint: 'g', body: () => bodyWith({ amount: '10001' }) }],
    ['another recipient', { fingerprint: 'g', body: () => bodyWith({ payTo: 'mallory' }) }],
  ])('is duplicate_settlement for %s', async (_, { body, ...changes }: Attack) => {
    const { attempt } = await settleLater(account)
    const attack = { ...account, ...changes, ...(body === undefined ? {} : { body: body() }) }
    expect(await attempt({ ...attack, consumer: 'request:2' })).toMatchObject(duplicateAnswer)
    expect(await attempt({ ...account, consumer: 'request:3' })).toMatchObject({ success: true })
  })

  it('is success for an anonymous caller with the same body only', async () => {
    const { attempt } = await settleLater({})
    expect(await attempt({ fingerprint: 'g', consumer: 'request:2' })).toMatchObject(duplicateAnswer)
    expect(await attempt({ consumer: 'request:3' })).toMatchObject({ success: true })
  })

  it('is left for a later request if the client is gone when it is confirmed', async () => {
    const { plain, attempt } = setup()
    const gone = await attempt({ isAwaited: () => false })
    expect(gone).toMatchObject({ success: false, status: 'pending', transaction: 'tx-1' })
    expect(onlyRow(plain)).toMatchObject({ state: 'confirmed', consumedBy: null })
    expect(await attempt({ consumer: 'request:2', isAwaited: () => false })).toMatchObject({
      status: 'pending',
    })
    expect(await attempt({ consumer: 'request:3', isAwaited: () => true })).toMatchObject({ success: true })
    expect(await attempt({ consumer: 'request:4' })).toMatchObject(duplicateAnswer)
  })

  it('is success for one of many that ask at once', async () => {
    const { attempt } = await settleLater(account)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        attempt({ ...account, fingerprint: `g${at % 3}`, consumer: `request:${at}` }),
      ),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
  })
})

interface Attack {
  readonly caller?: string
  readonly fingerprint?: string
  readonly body?: () => ReturnType<typeof toyBody>
}

const forgedProof = () => {
  const body = toyBody()
  const payload = { ...z.looseObject({}).parse(body.paymentPayload.payload), forged: true }
  return wirePaymentRequest.parse({ ...body, paymentPayload: { ...body.paymentPayload, payload } })
}

describe('an attempt that sees its claim', () => {
  const denial: Refusal = {
    isValid: false,
    payer: 'alice',
    reason: 'duplicate_settlement',
    message: 'Too late',
  }

  it('sees the row before anything is sent', async () => {
    const { plain, attempt } = setup()
    const seen: unknown[] = []
    const result = await attempt({
      onClaimed: async (settlement) => {
        seen.push(settlement.id, onlyRow(plain).broadcasts)
        return null
      },
    })
    expect(result.success).toBe(true)
    expect(seen).toEqual([onlyRow(plain).id, []])
  })

  it('sends nothing and keeps no claim if it refuses', async () => {
    let refunds = 0
    const spend = async () => () => {
      refunds += 1
    }
    const { plain, attempt } = setup({ spend })
    expect(await attempt({ onClaimed: async () => denial })).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      errorMessage: 'Too late',
    })
    expect(onlyRow(plain)).toMatchObject({ state: 'failed', reason: 'settlement_abandoned', broadcasts: [] })
    expect(refunds).toBe(1)
    expect((await attempt()).success).toBe(true)
  })

  it('sends nothing and keeps no claim if it fails', async () => {
    const { plain, attempt } = setup()
    const failing = attempt({ onClaimed: () => Promise.reject(new Error('The database is gone')) })
    expect(await rejectionOf(failing)).toMatchObject({ code: 'SETTLEMENT_FAILED' })
    expect(onlyRow(plain)).toMatchObject({ state: 'failed', broadcasts: [] })
  })

  it('fails with its own error if the claim cannot be abandoned either', async () => {
    const { plain, attempt } = setup({
      journal: () => ({ abandon: () => Promise.reject(new Error('The database is gone')) }),
    })
    const failing = attempt({ onClaimed: () => Promise.reject(new AppError('NOT_FOUND', 'Gone')) })
    expect(await rejectionOf(failing)).toMatchObject({ code: 'NOT_FOUND' })
    expect(onlyRow(plain)).toMatchObject({ state: 'claimed', broadcasts: [] })
  })
})

describe('an attempt of an account that is bound to its body', () => {
  it.each([
    ['takes no success of another body with the same proof', false, true],
    ['leaves its success to no other body with the same proof', true, false],
  ])('%s', async (_name, isFirstBound, isSecondBound) => {
    const { plain, attempt } = setup({
      scheme: sendAs('pending'),
    })
    const caller = 'account'
    await attempt({ caller, isBodyBound: isFirstBound })
    plain.change(onlyRow(plain).id, { state: 'confirmed', settledAmount: 10_000n })
    const second = { caller, fingerprint: 'g', consumer: 'request:2' }
    expect(await attempt({ ...second, isBodyBound: isSecondBound })).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    expect(await attempt({ caller, isBodyBound: isFirstBound })).toMatchObject({ success: true })
  })
})

describe('a hold that a settlement took', () => {
  const hold = { spender: 'router', balance: 10_000n, allowance: null }
  const holding: ToyScript = { verify: async (payment) => toyAuthorized(payment, { hold }) }
  const exhausted = new AppError('QUOTA_EXCEEDED', "This month's quota is used up")

  const hasHold = (world: World = {}) => {
    const reservations = createMemoryHolds()
    const holdFunds = createHoldFunds({ holds: reservations, clock: createManualClock() })
    return { reservations, holdFunds, ...setup({ scheme: holding, holdFunds, ...world }) }
  }

  it.each([
    ['exceeds the quota', async () => Promise.reject(exhausted)],
    ['fails', async () => Promise.reject(new Error('The connection was lost'))],
    ['is refused each time', async () => null],
  ])('is released when its claim %s', async (_name, claim) => {
    const { reservations, attempt } = hasHold({ journal: () => ({ claim }) })
    await rejectionOf(attempt())
    expect(reservations.list()).toEqual([])
  })

  it('is released when it comes after the wait has ended', async () => {
    const { reservations, holdFunds } = hasHold()
    const { finished, finish } = deferred()
    const { attempt } = setup({
      waitMs: 20,
      scheme: holding,
      holdFunds: async (...asked) => {
        await finished
        return await holdFunds(...asked)
      },
    })
    await rejectionOf(attempt())
    expect(reservations.list()).toEqual([])
    finish()
    await pollUntil(() => reservations.reserved() === 1 && reservations.list().length === 0, 'the release')
  })

  it('stays as the hold of the verification that it renewed', async () => {
    const { reservations, holdFunds, attempt } = hasHold({
      journal: () => ({ claim: () => Promise.reject(exhausted) }),
    })
    const { paymentPayload, paymentRequirements } = toyBody()
    const payment = readPayment({ paymentPayload, paymentRequirements })
    if (isRefused(payment)) throw new Error(payment.reason)
    await holdFunds(payment, toyAuthorized(payment, { hold }), { caller: 'anonymous', purpose: 'verify' })
    await rejectionOf(attempt())
    expect(reservations.list()).toMatchObject([{ purpose: 'verify', amount: 10_000n }])
  })

  it('stays while its settlement is open, and with a stream', async () => {
    const pending = hasHold({
      scheme: {
        verify: async (payment) =>
          toyAuthorized(payment, {
            hold,
            settle: async (recorder) => {
              await recorder.record(sent)
              return { state: 'pending', transaction: 'tx-1' }
            },
          }),
      },
    })
    expect(await pending.attempt()).toMatchObject(pendingAnswer)
    expect(pending.reservations.list()).toHaveLength(1)
    const stream = hasHold({ journal: () => ({ claim: () => Promise.reject(exhausted) }) })
    await rejectionOf(stream.attempt({ holdPurpose: 'stream:1' }))
    expect(stream.reservations.list()).toMatchObject([{ purpose: 'stream:1' }])
  })
})

describe('what returns money of a channel', () => {
  it('sends nothing where a stream over it is opened once the settlement is recorded', async () => {
    const streamed = { isValid: false, payer: 'alice', reason: 'duplicate_settlement' } as const
    const { plain, attempt } = setup({
      scheme: { continues: () => true, settle: () => Promise.reject(new Error('Nothing may be sent')) },
      findStreamed: async () => (plain.list().length === 0 ? null : streamed),
    })
    expect(await attempt()).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    expect(onlyRow(plain)).toMatchObject({ state: 'failed', reason: 'settlement_abandoned' })
  })
})
