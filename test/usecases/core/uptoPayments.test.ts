import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Hold, Refusal, SettleOptions, VerifyOptions } from '../../../src/schemes/scheme.js'
import { readSettleAmount } from '../../../src/schemes/settleAmount.js'
import { viewSettlement } from '../../../src/usecases/core/describe/listSettlements.js'
import { createConcurrencyLimits } from '../../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createSettlePayment } from '../../../src/usecases/core/settle/settlePayment.js'
import { createHoldFunds, createIsHeld } from '../../../src/usecases/core/verify/holdFunds.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { createMemoryHolds } from '../../support/memoryHolds.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme, type ToySettle, toyAuthorized } from '../../support/toyScheme.js'

const start = new Date('2026-01-01T00:00:00Z')

interface World {
  readonly hold?: Hold
  readonly settle?: ToySettle
  readonly expiresAt?: Date
  /** Called at each look at the chain; may refuse for it. */
  readonly onVerify?: (options: VerifyOptions) => Refusal | undefined
}

/** A scheme `upto` whose payers sign 10000 and which takes both dialects. */
const setup = ({ hold, settle, expiresAt, onVerify }: World = {}) => {
  const journal = createMemoryJournal()
  const reservations = createMemoryHolds()
  const logger = createMemoryLogger()
  const clock = {
    now: () => start,
    sleep: async (_milliseconds: number, signal?: AbortSignal) => {
      await drainEventLoop()
      return signal?.aborted !== true
    },
  }
  let sent = 0
  const scheme = createToyScheme({
    kind: { scheme: 'upto', network: 'toy:1' },
    verify: async (payment, options) => {
      const { isForSettle = false } = options
      const refused = onVerify?.(options)
      if (refused !== undefined) return refused
      const reading = readSettleAmount(payment, {
        authorizedMaximum: 10_000n,
        isForSettle,
        isRequiredAmountCharge: payment.acceptedAmount !== null,
      })
      if ('reason' in reading) return { isValid: false, payer: 'alice', ...reading }
      const { amount } = reading
      return toyAuthorized(payment, {
        amount,
        authorizedAmount: 10_000n,
        ...(hold === undefined ? {} : { hold }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
        settle: async (recorder, options: SettleOptions) => {
          if (settle !== undefined) return await settle(payment, recorder, options)
          if (amount === 0n) return { state: 'confirmed', transaction: '', settledAmount: 0n }
          sent += 1
          const transaction = `tx-${sent}`
          await recorder.record({ transaction, bytes: `bytes-${sent}` })
          const block = { number: 42n, hash: 'hash-42' }
          return { state: 'confirmed', transaction, settledAmount: amount, block, gasUsed: 21_000n }
        },
      })
    },
  })
  const registry = createSchemeRegistry([scheme])
  const holdFunds = createHoldFunds({ holds: reservations, clock })
  const settleAuthorization = createSettleAuthorization({
    registry,
    journal,
    holdFunds,
    isHeld: createIsHeld(reservations),
    limits: noSpendingLimits,
    concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
    clock,
    logger,
    waitMs: waitLimitMs,
  })
  const answers = new Map<string, unknown>()
  const settlePayment = createSettlePayment({
    idempotency: {
      begin: async ({ key }) =>
        answers.has(key) ? { state: 'answered', response: answers.get(key) } : { state: 'started' },
      isMismatch: async () => false,
      // As a store keeps it.
      answer: async ({ key }, response) => void answers.set(key, JSON.parse(JSON.stringify(response))),
      fail: async () => undefined,
      release: async () => undefined,
      forget: async () => undefined,
      purge: async () => undefined,
    },
    settleAuthorization,
    logger,
  })
  const verifyPayment = createVerifyPayment({
    registry,
    journal,
    quotaGate: async () => null,
    holdFunds,
    logger,
    deadlineMs: waitLimitMs,
  })
  return {
    journal,
    reservations,
    verify: (body: unknown, caller = 'anonymous') =>
      verifyPayment({ body: wirePaymentRequest.parse(body), caller, quota: null, isAwaited: () => true }),
    settle: async (body: unknown, { caller = 'anonymous', key = null as string | null } = {}) =>
      (
        await settlePayment({
          body: wirePaymentRequest.parse(body),
          caller,
          quota: null,
          idempotencyKey: key,
        })
      ).result,
  }
}

const terms = {
  scheme: 'upto',
  network: 'toy:1',
  asset: 'gold',
  payTo: 'bob',
  maxTimeoutSeconds: 60,
}

/** As t402 servers write it: the maximum stays, and the body says what to settle. */
const t402 = (fields: Record<string, unknown> = {}, { nonce = 'n1', required = {} } = {}) => ({
  paymentPayload: { scheme: 'upto', network: 'toy:1', payload: { from: 'alice', nonce } },
  paymentRequirements: { ...terms, maxAmount: '10000', ...required },
  ...fields,
})

/** As @x402/core writes it: the charge takes the place of the maximum in the requirements. */
const x402 = (charge = '10000', { nonce = 'n1' } = {}) => ({
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: { ...terms, amount: '10000', extra: {} },
    payload: { from: 'alice', nonce },
  },
  paymentRequirements: { ...terms, amount: charge, extra: {} },
})

const result = {
  success: true,
  transaction: 'tx-1',
  transactionHash: 'tx-1',
  network: 'toy:1',
  payer: 'alice',
  amount: '7000',
  settledAmount: '7000',
  maxAmount: '10000',
  blockNumber: 42,
  gasUsed: '21000',
  status: 'confirmed',
}

const onlyRow = (rows: readonly Settlement[]): Settlement => {
  const [row, ...others] = rows
  if (row === undefined || others.length > 0) throw new Error(`There are ${rows.length} rows`)
  return row
}

describe('the result of a settlement under upto', () => {
  it.each([
    ['settleAmount', t402({ settleAmount: '7000' })],
    ['the amount of the requirements (x402)', x402('7000')],
  ])('has the fields of the specification beside those of x402, by %s', async (_name, body) => {
    const { settle } = setup()
    expect(await settle(body)).toEqual({ ...result, settlementId: expect.any(String) })
  })

  it('is the same for a replay', async () => {
    const { settle } = setup()
    const body = x402('7000')
    const first = await settle(body, { caller: 'shop', key: 'k1' })
    expect(first).toEqual({ ...result, settlementId: expect.any(String) })
    expect(await settle(body, { caller: 'shop', key: 'k1' })).toEqual(first)
  })

  it('is the same for a request that joins one under way', async () => {
    let end = () => undefined as undefined
    const ended = new Promise<void>((resolve) => {
      end = () => void resolve()
    })
    const { journal, settle } = setup({
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: 'tx-1', bytes: 'bytes-1' })
        await ended
        return { state: 'pending', transaction: 'tx-1' }
      },
    })
    const first = settle(t402({ settleAmount: '7000' }))
    await drainEventLoop()
    const second = settle(t402({ settleAmount: '7000' }))
    end()
    expect(await first).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: 'tx-1',
    })
    const { id } = onlyRow(journal.list())
    await journal.close(id, {
      state: 'confirmed',
      transaction: 'tx-1',
      settledAmount: 7_000n,
      block: { number: 42n, hash: 'hash-42' },
      gasUsed: 21_000n,
    })
    expect(await second).toEqual({ ...result, settlementId: id })
  })

  it('of 0 has no transaction, block or gas, and uses the authorization up', async () => {
    const { journal, settle } = setup()
    expect(await settle(t402({ settleAmount: '0' }))).toEqual({
      success: true,
      transaction: '',
      transactionHash: '',
      network: 'toy:1',
      payer: 'alice',
      amount: '0',
      settledAmount: '0',
      maxAmount: '10000',
      settlementId: onlyRow(journal.list()).id,
      status: 'confirmed',
    })
    expect(await settle(t402({ settleAmount: '1' }))).toMatchObject({ errorReason: 'duplicate_settlement' })
  })

  it('of 0 has a transaction if the scheme sent one', async () => {
    const { settle } = setup({
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: 'tx-0', bytes: 'bytes' })
        return {
          state: 'confirmed',
          transaction: 'tx-0',
          settledAmount: 0n,
          block: { number: 1n, hash: 'h' },
        }
      },
    })
    expect(await settle(x402('0'))).toMatchObject({
      transactionHash: 'tx-0',
      settledAmount: '0',
      blockNumber: 1,
    })
  })

  it('refuses a settlement without an amount to settle', async () => {
    const { journal, settle } = setup()
    expect(await settle(t402())).toMatchObject({
      success: false,
      errorReason: 'settle_amount_required',
      errorMessage: 'settleAmount: is required to settle this payment',
    })
    expect(journal.list()).toEqual([])
  })
})

describe('two settlements of one authorization', () => {
  it.each([
    ['settleAmount', t402({ settleAmount: '7000' }), t402({ settleAmount: '6000' })],
    ['x402', x402('7000'), x402('6000')],
  ])(
    'by %s with different amounts at once: one wins, and the refusal of the other names it',
    async (_name, one, other) => {
      for (const caller of ['anonymous', 'shop']) {
        const { journal, settle } = setup()
        const answers = await Promise.all([settle(one, { caller }), settle(other, { caller })])
        const row = onlyRow(journal.list())
        const [winner, loser] = answers[0].success ? answers : answers.toReversed()
        expect(winner).toMatchObject({ success: true, settledAmount: String(row.amount) })
        expect(loser).toMatchObject({
          success: false,
          errorReason: 'duplicate_settlement',
          settlementId: row.id,
          errorMessage: expect.stringContaining(`${row.amount} of at most 10000`),
        })
        // Later, the transaction too.
        expect(await settle(other, { caller })).toMatchObject({
          errorReason: 'duplicate_settlement',
          transaction: 'tx-1',
          errorMessage: `This authorization was already settled for another request: ${row.amount} of at most 10000`,
        })
      }
    },
  )

  it('in both dialects, with the same amount, are one settlement for an account', async () => {
    const { journal, settle } = setup({
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: 'tx-1', bytes: 'bytes-1' })
        return { state: 'pending', transaction: 'tx-1' }
      },
    })
    expect(await settle(x402('7000'), { caller: 'shop' })).toMatchObject({
      errorReason: 'settlement_pending',
    })
    const { id } = onlyRow(journal.list())
    await journal.close(id, { state: 'confirmed', transaction: 'tx-1' })
    expect(await settle(t402({ settleAmount: '6999' }), { caller: 'shop' })).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
    expect(await settle(t402({ settleAmount: '7000' }), { caller: 'shop' })).toMatchObject({
      success: true,
      settlementId: id,
      settledAmount: '7000',
    })
  })

  it('a verify of an account finds its pending settlement, although its amount is the maximum', async () => {
    let isUsed = false
    const { verify, settle } = setup({
      onVerify: () =>
        isUsed ? { isValid: false, payer: 'alice', reason: 'permit_nonce_mismatch' } : undefined,
      settle: async (_payment, recorder) => {
        await recorder.record({ transaction: 'tx-1', bytes: 'bytes-1' })
        return { state: 'pending', transaction: 'tx-1' }
      },
    })
    await settle(x402('7000'), { caller: 'shop' })
    isUsed = true
    expect(await verify(x402(), 'shop')).toMatchObject({ isValid: true })
    expect(await verify(t402(), 'shop')).toMatchObject({ isValid: true })
    expect(await verify(t402({ settleAmount: '7000' }), 'shop')).toMatchObject({ isValid: true })
    expect(await verify(t402({ settleAmount: '6000' }), 'shop')).toMatchObject({ isValid: false })
    expect(await verify(x402('9999'), 'shop')).toMatchObject({ isValid: false })
    expect(await verify(x402(), 'another shop')).toMatchObject({ invalidReason: 'permit_nonce_mismatch' })
  })
})

describe('usage', () => {
  const usageDetails = { unitsConsumed: 700, unitPrice: '10', unitType: 'token', startTime: 1, endTime: 2 }
  const extra = { unit: 'token', unitPrice: '10' }

  it('that agrees is settled', async () => {
    const { settle } = setup()
    const body = t402({ settleAmount: '7000', usageDetails }, { required: { extra } })
    const result = await settle(body)
    expect(result).toMatchObject({ success: true, settledAmount: '7000' })
    expect(result).not.toHaveProperty('warnings')
  })

  it('that does not agree is settled with a warning, as charged', async () => {
    const { settle } = setup()
    const body = t402({ settleAmount: '9000', usageDetails })
    expect(await settle(body)).toMatchObject({
      success: true,
      settledAmount: '9000',
      warnings: ['usageDetails: 700 units at 10 are 7000, and 9000 is to be settled'],
    })
  })

  it('that does not agree is no warning of a payment that is refused', async () => {
    const { settle } = setup()
    const result = await settle(t402({ settleAmount: '10001', usageDetails }))
    expect(result).toMatchObject({ success: false, errorReason: 'settle_amount_above_maximum' })
    expect(result).not.toHaveProperty('warnings')
  })

  it('by a unit of another name is refused by verify, and settled with a warning once it was rendered', async () => {
    const { verify, settle } = setup()
    const problem = 'extra.unit: must be one of token, request, second, minute, byte, kb, mb'
    const gram = { required: { extra: { unit: 'gram' } } }
    await expect(verify(t402({}, gram))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: `paymentRequirements.${problem}`,
    })
    expect(await settle(t402({ settleAmount: '7000' }, gram))).toMatchObject({
      success: true,
      warnings: [problem],
    })
  })

  it('above the maximum is settled as the maximum', async () => {
    const { settle } = setup()
    const much = { ...usageDetails, unitsConsumed: 5_000 }
    const whole = await settle(t402({ settleAmount: '10000', usageDetails: much }))
    expect(whole).toMatchObject({ success: true })
    expect(whole).not.toHaveProperty('warnings')
    const charged = await settle({ ...x402('10000', { nonce: 'n2' }), usageDetails: much })
    expect(charged).toMatchObject({ success: true })
    expect(charged).not.toHaveProperty('warnings')
    // The maximum of x402 is what the client accepted, not the charge.
    const less = { ...x402('7000', { nonce: 'n3' }), usageDetails: much }
    expect(await settle(less)).toMatchObject({ success: true, warnings: [expect.any(String)] })
  })

  it('with an unreadable price is settled with a warning', async () => {
    const { settle } = setup()
    const odd = { ...usageDetails, unitPrice: '$10' }
    expect(await settle(t402({ settleAmount: '7000', usageDetails: odd }))).toMatchObject({
      success: true,
      warnings: [expect.stringContaining('usageDetails.unitPrice')],
    })
  })
})

describe('funds between verify and settle', () => {
  const hold: Hold = { spender: '0xROUTER', balance: 25_000n, allowance: null }

  it('are held from verify on; what does not fit beside them is insufficient_funds', async () => {
    const { reservations, verify } = setup({ hold })
    expect(await verify(t402())).toMatchObject({ isValid: true })
    expect(await verify(t402({}, { nonce: 'n2' }))).toMatchObject({ isValid: true })
    expect(await verify(t402({}, { nonce: 'n3' }))).toMatchObject({
      isValid: false,
      payer: 'alice',
      invalidReason: 'insufficient_funds',
      invalidMessage:
        "The payer's balance is 25000; other authorizations that are not settled yet hold 20000 of it, which leaves too little for 10000",
      retryable: true,
    })
    expect(reservations.list().map(({ amount, spender }) => ({ amount, spender }))).toEqual([
      { amount: 10_000n, spender: '0xrouter' },
      { amount: 10_000n, spender: '0xrouter' },
    ])
  })

  describe('where a rule refuses new payments since', () => {
    const setupRule = () => {
      const rule = { isActive: false }
      const world = setup({
        hold,
        onVerify: ({ isAdmitted }) =>
          rule.isActive && isAdmitted !== true
            ? { isValid: false, payer: 'alice', reason: 'cross_check_unavailable' }
            : undefined,
      })
      return { ...world, rule }
    }
    const refused = { success: false, errorReason: 'cross_check_unavailable' }

    it('settle the payment that an account verified before', async () => {
      const { rule, verify, settle } = setupRule()
      await verify(t402(), 'shop')
      rule.isActive = true
      const body = t402({ settleAmount: '10000' })
      expect(await settle(body)).toMatchObject(refused)
      expect(await settle(body, { caller: 'rival' })).toMatchObject(refused)
      expect(await settle(body, { caller: 'shop' })).toMatchObject({ success: true })
    })

    it.each([
      ['without an account', 'anonymous', t402({ settleAmount: '10000' })],
      ['for another recipient', 'shop', t402({ settleAmount: '1' }, { required: { payTo: 'carol' } })],
    ])('settle no payment that was verified %s', async (_, caller, body) => {
      const { rule, verify, settle } = setupRule()
      await verify(t402(), caller)
      rule.isActive = true
      expect(await settle(body, { caller })).toMatchObject(refused)
    })

    it('settle no more than they hold', async () => {
      const { rule, reservations, verify, settle } = setupRule()
      await verify(t402({}, { required: { maxAmount: '10000' } }), 'shop')
      const [held] = reservations.list()
      if (held === undefined) throw new Error('Nothing is held')
      reservations.end(held.authorizationId)
      await reservations.place({ ...held, amount: 9_999n }, { balance: null, allowance: null })
      rule.isActive = true
      expect(await settle(t402({ settleAmount: '10000' }), { caller: 'shop' })).toMatchObject(refused)
      expect(await settle(t402({ settleAmount: '9999' }), { caller: 'shop' })).toMatchObject({
        success: true,
      })
    })
  })

  it('are held at settle too, without a verify, for what is charged', async () => {
    const { verify, settle } = setup({ hold: { ...hold, balance: 19_999n } })
    expect(await verify(t402())).toMatchObject({ isValid: true })
    expect(await settle(t402({ settleAmount: '10000' }, { nonce: 'n2' }))).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
      errorMessage: expect.stringContaining('hold 10000'),
    })
    expect(await settle(t402({ settleAmount: '9999' }, { nonce: 'n2' }))).toMatchObject({ success: true })
  })

  it('that were held at verify pass at settle', async () => {
    const world = { balance: 10_000n }
    const { verify, settle } = setup({
      hold: {
        spender: 'router',
        get balance() {
          return world.balance
        },
        allowance: null,
      },
    })
    await verify(t402())
    world.balance = 5n
    expect(await settle(t402({ settleAmount: '7000' }))).toMatchObject({ success: true })
  })

  it('name the allowance if that is what is too low', async () => {
    const { verify } = setup({ hold: { ...hold, allowance: 15_000n } })
    await verify(t402())
    expect(await verify(t402({}, { nonce: 'n2' }))).toMatchObject({
      invalidMessage: expect.stringMatching(/^The allowance of the payer is 15000; .* hold 10000 of it/),
    })
  })

  it('are held as long as the authorization lives, at most as long as the resource server waits', async () => {
    const until = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
    for (const [expiresAt, end] of [
      [until(30), until(30)],
      [until(3_600), until(60)],
      [undefined, until(60)],
    ] as const) {
      const { reservations, verify } = setup({ hold, ...(expiresAt === undefined ? {} : { expiresAt }) })
      await verify(t402())
      expect(reservations.list()).toMatchObject([{ expiresAt: end }])
    }
  })

  it('are compared by address, however the caller spells the asset', async () => {
    const { reservations, verify } = setup({ hold })
    await verify(t402({}, { required: { asset: '0xAbC' } }))
    await verify(t402({}, { nonce: 'n2', required: { asset: '0xaBc' } }))
    expect(reservations.list().map(({ asset }) => asset)).toEqual(['0xabc', '0xabc'])
  })

  it('are no longer there once 0 was settled, although the chain knows nothing of it', async () => {
    const { verify, settle } = setup({ hold })
    expect(await verify(x402())).toMatchObject({ isValid: true })
    expect(await settle(x402('0'))).toMatchObject({ success: true, transaction: '' })
    expect(await verify(x402())).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      payer: 'alice',
    })
  })

  it('are held for one recipient: the same nonce for another one is a duplicate', async () => {
    const { verify, settle } = setup({ hold })
    expect(await verify(t402())).toMatchObject({ isValid: true })
    const other = { required: { payTo: 'carol' } }
    expect(await verify(t402({}, other))).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      invalidMessage: 'An authorization with this nonce is reserved for another recipient',
    })
    expect(await settle(t402({ settleAmount: '1' }, other))).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
    expect(await settle(t402({ settleAmount: '1' }))).toMatchObject({ success: true })
  })

  it('of a scheme without holds are not reserved', async () => {
    const { reservations, verify } = setup()
    await verify(t402())
    expect(reservations.list()).toEqual([])
  })
})

describe('the view of a settlement', () => {
  it('shows the maximum where it differs from the amount', async () => {
    const { journal, settle } = setup()
    await settle(x402('7000'))
    expect(viewSettlement(onlyRow(journal.list()))).toMatchObject({ amount: '7000', maxAmount: '10000' })
  })

  it('has no maximum where all of it was settled', async () => {
    const { journal, settle } = setup()
    await settle(x402('10000'))
    expect(viewSettlement(onlyRow(journal.list()))).not.toHaveProperty('maxAmount')
  })
})
