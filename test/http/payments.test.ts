import { describe, expect, it, vi } from 'vitest'
import type { SettlementView } from '../../src/protocol/results.js'
import type { CoreUseCases } from '../../src/usecases/core/useCases.js'
import { pollUntil } from '../support/pollUntil.js'
import { testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'

const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const settlementId = '9401b76e-f466-496f-8524-886a61ebf067'

const settlement: SettlementView = {
  id: settlementId,
  status: 'confirmed',
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payer,
  payTo: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
  amount: '10000',
  transaction: `0x${'ab'.repeat(32)}`,
  createdAt: '2026-01-01T00:00:00.000Z',
}

describe('an instance that rests', () => {
  it('wakes before a payment is judged, and not for health checks and other reads', async () => {
    const events: string[] = []
    let wakeUp = () => {}
    const woken = new Promise<void>((resolve) => {
      wakeUp = resolve
    })
    const app = testApp({
      wake: () => {
        events.push('wakes')
        return woken
      },
      core: {
        verifyPayment: async () => {
          events.push('judges')
          return { isValid: true, payer }
        },
      },
    })
    for (const url of ['/health', '/ready', '/supported']) await app.inject({ method: 'GET', url })
    expect(events).toEqual([])
    const answered = app.inject({ method: 'POST', url: '/verify', payload: paymentBody() })
    await pollUntil(async () => events.length > 0, 'the instance to wake')
    await app.inject({ method: 'GET', url: '/health' })
    expect(events).toEqual(['wakes'])
    wakeUp()
    expect((await answered).statusCode).toBe(200)
    expect(events).toEqual(['wakes', 'judges'])
  })
})

describe('POST /verify', () => {
  const verify = async (verifyPayment: CoreUseCases['verifyPayment']) =>
    await testApp({ core: { verifyPayment } }).inject({
      method: 'POST',
      url: '/verify',
      payload: paymentBody(),
    })

  it('responds 200 for a valid payment', async () => {
    const response = await verify(async () => ({ isValid: true, payer }))
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ isValid: true, payer })
  })

  it('responds 200 for a rejected payment, with the reason', async () => {
    const refusal = {
      isValid: false,
      payer,
      invalidReason: 'insufficient_funds',
      invalidMessage: 'Not enough',
      operationalCode: 'SVC-3003',
    }
    const response = await verify(async () => refusal)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(refusal)
  })

  it('drops fields that the response schema does not name', async () => {
    const response = await verify(async () => {
      const row = { isValid: true, payer, signature: '0xsecret', internal: { key: 1 } }
      return row
    })
    expect(response.json()).toEqual({ isValid: true, payer })
  })

  it('escapes strings in the response', async () => {
    const invalidMessage = 'a "quote", a \\, a \n, a \u2028 and a \ud800'
    const response = await verify(async () => ({ isValid: false, invalidMessage }))
    expect(response.json()).toEqual({ isValid: false, invalidMessage })
  })

  it('is not cached', async () => {
    const response = await verify(async () => ({ isValid: true }))
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it('is reported as awaited while the client is connected', async () => {
    let isAwaited: boolean | null = null
    await verify(async (request) => {
      isAwaited = request.isAwaited()
      return { isValid: true }
    })
    expect(isAwaited).toBe(true)
  })
})

describe('POST /settle', () => {
  const settle = async (settlePayment: CoreUseCases['settlePayment'], headers: Record<string, string> = {}) =>
    await testApp({ core: { settlePayment } }).inject({
      method: 'POST',
      url: '/settle',
      payload: paymentBody(),
      headers,
    })

  const paid = {
    result: { success: true, transaction: '0xab', network: 'base-sepolia', payer },
    isReplayed: false,
  }

  it('returns the outcome, uncached', async () => {
    const response = await settle(async () => paid)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(paid.result)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.headers).not.toHaveProperty('x-idempotency-replayed')
  })

  it('responds 200 with all fields for a failed settlement', async () => {
    const result = {
      success: false,
      transaction: '0xab',
      network: 'eip155:84532',
      errorReason: 'settlement_pending',
      errorMessage: 'Sent',
      status: 'pending',
      settlementId,
    } as const
    const response = await settle(async () => ({ result, isReplayed: false }))
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(result)
  })

  it('drops fields that the response schema does not name', async () => {
    const row = { ...paid.result, bytes: '0xsigned', consumedBy: 'someone' }
    const response = await settle(async () => ({ result: row, isReplayed: false }))
    expect(response.json()).toEqual(paid.result)
  })

  it('marks replayed responses', async () => {
    const response = await settle(async () => ({ ...paid, isReplayed: true }))
    expect(response.headers['x-idempotency-replayed']).toBe('true')
  })

  it('passes on the Idempotency-Key, or null', async () => {
    const settlePayment = vi.fn(async () => paid)
    await settle(settlePayment, { 'idempotency-key': 'Order-4711' })
    await settle(settlePayment)
    expect(settlePayment).toHaveBeenNthCalledWith(
      1,
      expect.objectContaining({ idempotencyKey: 'Order-4711' }),
    )
    expect(settlePayment).toHaveBeenNthCalledWith(2, expect.objectContaining({ idempotencyKey: null }))
  })

  it.each(['a', '-', 'A-1', 'x'.repeat(64)])('accepts the Idempotency-Key %s', async (key) => {
    expect((await settle(async () => paid, { 'idempotency-key': key })).statusCode).toBe(200)
  })

  it.each(['', ' ', 'x'.repeat(65), 'a_b', 'a b', 'a,b', 'ключ', 'a\u00e4', '"a"', 'a;b'])(
    'refuses the Idempotency-Key %o',
    async (key) => {
      const settlePayment = vi.fn(async () => paid)
      const response = await settle(settlePayment, { 'idempotency-key': key })
      expect(response.statusCode).toBe(400)
      expect(response.json().code).toBe('INVALID_IDEMPOTENCY_KEY')
      expect(settlePayment).not.toHaveBeenCalled()
    },
  )

  it('rejects an invalid Idempotency-Key before it parses the body', async () => {
    const response = await testApp().inject({
      method: 'POST',
      url: '/settle',
      payload: '{{{',
      headers: { 'idempotency-key': '?', 'content-type': 'application/json' },
    })
    expect(response.json().code).toBe('INVALID_IDEMPOTENCY_KEY')
  })
})

describe('POST /settle under upto', () => {
  const settle = async (fields: Readonly<Record<string, unknown>>, result = {}) =>
    await testApp({
      core: {
        settlePayment: async () => ({
          result: { success: true, transaction: '', network: 'eip155:84532', ...result },
          isReplayed: false,
        }),
      },
    }).inject({ method: 'POST', url: '/settle', payload: { ...paymentBody(), ...fields } })

  it('returns the fields of the specification', async () => {
    const result = {
      transactionHash: '0xab',
      settledAmount: '7000',
      maxAmount: '10000',
      blockNumber: 31_415_926,
      gasUsed: '112233',
    }
    expect((await settle({ settleAmount: '7000' }, result)).json()).toMatchObject(result)
  })

  it.each([null, '', ' ', '-1', '+1', '0x10', '1e4', '0.5', -1, 0.5, 'all', [], {}, String(2n ** 256n)])(
    'responds 400 that names settleAmount if it is %j',
    async (settleAmount) => {
      const response = await settle({ settleAmount })
      expect(response.statusCode).toBe(400)
      expect(response.json()).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining('settleAmount'),
      })
    },
  )

  it.each([
    ['unitsConsumed', -1],
    ['unitsConsumed', '7'],
    ['unitPrice', 7],
    ['unitPrice', '7'.repeat(129)],
    ['startTime', -1],
    ['endTime', 'now'],
  ])('responds 400 that names usageDetails.%s if it is %j', async (field, value) => {
    const response = await settle({ settleAmount: '1', usageDetails: { [field]: value } })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ message: expect.stringContaining(`usageDetails.${field}`) })
  })
})

describe('GET /v1/settlements/{id}', () => {
  const details = { ...settlement, transactions: [settlement.transaction] }

  it('returns the authorized maximum beside what was settled', async () => {
    const part = { ...details, amount: '7000', maxAmount: '10000' }
    const response = await testApp({ core: { getSettlement: async () => part } }).inject(
      `/v1/settlements/${settlementId}`,
    )
    expect(response.json()).toEqual(part)
  })

  it('returns the settlement, uncached', async () => {
    const getSettlement = vi.fn(async () => details)
    const response = await testApp({ core: { getSettlement } }).inject(
      `/v1/settlements/${settlementId.toUpperCase()}`,
    )
    expect(response.json()).toEqual(details)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(getSettlement).toHaveBeenCalledWith(settlementId)
  })

  it('responds 404 for an unknown settlement', async () => {
    const response = await testApp().inject(`/v1/settlements/${settlementId}`)
    expect(response.statusCode).toBe(404)
    expect(response.json().code).toBe('NOT_FOUND')
  })

  it.each(['1', 'null', 'a b', "' or 1=1", `${settlementId}0`])('rejects the id %o', async (id) => {
    const getSettlement = vi.fn(async () => details)
    const response = await testApp({ core: { getSettlement } }).inject(
      `/v1/settlements/${encodeURIComponent(id)}`,
    )
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message: 'id: must be a UUID' })
    expect(getSettlement).not.toHaveBeenCalled()
  })
})

describe('GET /v1/settlements', () => {
  it('finds a settlement by network and transaction', async () => {
    const getSettlementByTransaction = vi.fn(async () => settlement)
    const response = await testApp({ core: { getSettlementByTransaction } }).inject({
      url: '/v1/settlements',
      query: { network: 'base-sepolia', transaction: settlement.transaction },
    })
    expect(response.json()).toEqual(settlement)
    expect(getSettlementByTransaction).toHaveBeenCalledWith({
      network: 'base-sepolia',
      transaction: settlement.transaction,
    })
  })

  it.each([
    ['', 'network: is required; transaction: is required'],
    ['?network=a', 'transaction: is required'],
    ['?network=&transaction=b', 'network: must not be empty'],
    ['?network=a&network=b&transaction=c', 'network: must be a string'],
    [`?network=a&transaction=${'0'.repeat(257)}`, 'transaction: must have at most 256 characters'],
  ])('rejects the query %o', async (query, message) => {
    const response = await testApp().inject(`/v1/settlements${query}`)
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message })
  })
})
