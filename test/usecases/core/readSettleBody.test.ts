import { describe, expect, it } from 'vitest'
import type { SettleAttempt } from '../../../src/usecases/core/settle/settlementContext.js'
import { createSettlePayment } from '../../../src/usecases/core/settle/settlePayment.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { toyBody } from '../../support/toyScheme.js'

const setup = () => {
  const attempts: SettleAttempt[] = []
  const noted: string[] = []
  const note = (what: string) => async () => void noted.push(what)
  const settle = createSettlePayment({
    idempotency: {
      begin: async () => ({ state: 'started' }),
      isMismatch: async () => false,
      answer: note('answer'),
      fail: note('fail'),
      release: note('release'),
      forget: note('forget'),
      purge: async () => {},
    },
    settleAuthorization: async (attempt) => {
      attempts.push(attempt)
      return { success: true, transaction: 'tx-1', network: 'toy:1' }
    },
    logger: createMemoryLogger(),
  })
  const request = { caller: 'ada', quota: null, idempotencyKey: 'key-1' }
  return { attempts, noted, settle, request }
}

describe('a body', () => {
  it('that is not a payment is refused before settling, and its Idempotency-Key stays bound to it', async () => {
    const { attempts, noted, settle, request } = setup()
    const body = { ...toyBody(), paymentPayload: {} }
    for (const idempotencyKey of ['key-1', null]) {
      const { result } = await settle({ ...request, idempotencyKey, body })
      expect(result).toMatchObject({
        success: false,
        errorReason: 'invalid_payload_structure',
        transaction: '',
        network: 'toy:1',
      })
    }
    expect(attempts).toEqual([])
    expect(noted).toEqual(['fail'])
  })

  it('is settled as the payment that it contains', async () => {
    const { attempts, noted, settle, request } = setup()
    const body = { ...toyBody(), settleAmount: '7' }
    await settle({ ...request, body })
    expect(attempts).toMatchObject([
      {
        payment: { settleAmount: 7n, requirements: { amount: 10_000n } },
        caller: 'ada',
        consumer: 'key:ada:key-1',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    expect(noted).toEqual(['answer'])
  })
})
