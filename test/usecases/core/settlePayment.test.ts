import { describe, expect, it } from 'vitest'
import { findRemedy, isReason, type Reason, reasons } from '../../../src/protocol/reasons.js'
import type { WirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createSettlePayment } from '../../../src/usecases/core/settlePayment.js'
import { createMemoryIdempotency } from '../../support/memoryIdempotency.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createUnlimitedSettle } from '../../support/settleAuthorization.js'
import { createToyScheme, type ToyScript, toyBody } from '../../support/toyScheme.js'

const setup = (script: ToyScript = {}) => {
  const logger = createMemoryLogger()
  const settlePayment = createSettlePayment({
    idempotency: createMemoryIdempotency(),
    settleAuthorization: createUnlimitedSettle({
      holdFunds: async (_payment, verdict) => verdict,
      registry: createSchemeRegistry([createToyScheme(script)]),
      journal: createMemoryJournal(),
      logger,
    }),
    logger,
  })
  return (body: WirePaymentRequest, idempotencyKey: string | null = null, caller = 'anonymous') =>
    settlePayment({ body, caller, quota: null, idempotencyKey })
}

/** A body that cannot be fingerprinted. */
const unreadable = (body: WirePaymentRequest): WirePaymentRequest => {
  const extra = {
    get trap(): never {
      throw new Error('was fingerprinted')
    },
  }
  return { ...body, paymentRequirements: { ...body.paymentRequirements, extra } }
}

const ofOtherScheme = () => {
  const { paymentPayload, paymentRequirements } = toyBody()
  const terms = { ...paymentRequirements, scheme: 'other' }
  return { paymentPayload: { ...paymentPayload, accepted: terms }, paymentRequirements: terms }
}

const unserved = [
  ['network', toyBody('nonce-1', 'toy:2'), 'invalid_network'],
  ['scheme', ofOtherScheme(), 'unsupported_scheme'],
] as const

describe.each(unserved)('a payment for an unsupported %s', (_name, body, errorReason) => {
  it('is refused before the body is fingerprinted', async () => {
    const settle = setup()
    expect(await settle(unreadable(body))).toMatchObject({ result: { success: false, errorReason } })
    await expect(settle(unreadable(toyBody()))).rejects.toThrow()
  })

  it('binds the Idempotency-Key of a caller with a key to its body like any other', async () => {
    const settle = setup()
    const keyed = (sent: WirePaymentRequest) => settle(sent, 'order-1', 'account-1')
    expect(await keyed(body)).toMatchObject({ result: { success: false, errorReason } })
    const other = { ...body, note: 'another' }
    expect(await rejectionOf(keyed(other))).toMatchObject({ code: 'PAYLOAD_MISMATCH' })
    expect(await rejectionOf(keyed(toyBody()))).toMatchObject({ code: 'PAYLOAD_MISMATCH' })
    // Refused before a claim: nothing was decided, so the same request is judged again.
    expect(await keyed(body)).toMatchObject({ result: { success: false, errorReason }, isReplayed: false })
  })
})

describe('an Idempotency-Key of callers without an API key (A53)', () => {
  it('is not blocked by what a stranger sent under it, before or after', async () => {
    const settle = setup()
    const junk = { ...toyBody(), note: 'junk' }
    expect(await settle(ofOtherScheme(), 'order-1001')).toMatchObject({ result: { success: false } })
    expect(await settle({ ...toyBody('nonce-of-a-stranger') }, 'order-1001')).toMatchObject({
      result: { success: true },
    })
    const settled = await settle(toyBody(), 'order-1001')
    expect(settled).toMatchObject({ result: { success: true }, isReplayed: false })
    expect(await settle(junk, 'order-1001')).toMatchObject({
      result: { errorReason: 'duplicate_settlement' },
    })
    expect(await settle(toyBody(), 'order-1001')).toEqual({ result: settled.result, isReplayed: true })
  })

  it('is not remembered after a refusal', async () => {
    const settle = setup()
    for (let turn = 0; turn < 3; turn += 1) {
      const refused = await settle(ofOtherScheme(), 'order-1')
      expect(refused).toMatchObject({ result: { success: false }, isReplayed: false })
    }
  })
})

describe('an Idempotency-Key of a caller with an API key', () => {
  it('belongs to one body, and to one caller', async () => {
    const settle = setup()
    const first = await settle(toyBody(), 'order-1', 'account-1')
    expect(first).toMatchObject({ result: { success: true } })
    expect(await rejectionOf(settle(toyBody('other'), 'order-1', 'account-1'))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
    expect(await settle(toyBody('other'), 'order-1', 'account-2')).toMatchObject({
      result: { success: true },
    })
    expect(await settle(toyBody(), 'order-1', 'account-1')).toEqual({ ...first, isReplayed: true })
  })
})

const allReasons = Object.keys(reasons).filter(isReason)
const openReasons = ['settlement_pending', 'duplicate_settlement']
const listReasons = (isFinal: boolean) =>
  allReasons.filter((each) => !openReasons.includes(each) && findRemedy(each).isFinal === isFinal)

describe('a settlement that failed under an Idempotency-Key', () => {
  /** Fails once, then settles. */
  const failOnce = (reason: Reason) => {
    let isFirst = true
    return setup({
      settle: async (_payment, recorder) => {
        if (isFirst) {
          isFirst = false
          return { state: 'failed', reason }
        }
        await recorder.record({ transaction: 'tx-2', bytes: 'bytes-2' })
        return { state: 'confirmed', transaction: 'tx-2' }
      },
    })
  }

  it.each(listReasons(true))('is PREVIOUS_REQUEST_FAILED with its reason after %s', async (reason) => {
    const settle = failOnce(reason)
    const failed = { success: false, errorReason: reason, retryable: false, status: 'failed' }
    expect(await settle(toyBody(), 'order-1')).toMatchObject({ result: failed })
    expect(await rejectionOf(settle(toyBody(), 'order-1'))).toMatchObject({
      code: 'PREVIOUS_REQUEST_FAILED',
      reason,
    })
  })

  it.each(listReasons(false))('can succeed under the same key after %s', async (reason) => {
    const settle = failOnce(reason)
    const failed = { success: false, errorReason: reason, retryable: true, status: 'failed' }
    expect(await settle(toyBody(), 'order-1')).toMatchObject({ result: failed })
    expect(await settle(toyBody(), 'order-1')).toMatchObject({ result: { success: true } })
  })
})

describe('the same body twice', () => {
  it('is one request with an Idempotency-Key, whatever the order of JSON keys', async () => {
    const settle = setup()
    const { paymentPayload, paymentRequirements } = toyBody()
    const first = await settle({ paymentPayload, paymentRequirements }, 'order-1')
    expect(first).toMatchObject({ result: { success: true }, isReplayed: false })
    const again = await settle({ paymentRequirements, paymentPayload }, 'order-1')
    expect(again).toEqual({ result: first.result, isReplayed: true })
  })

  it('is a duplicate_settlement without one', async () => {
    const settle = setup()
    expect(await settle(toyBody())).toMatchObject({ result: { success: true } })
    expect(await settle(toyBody())).toMatchObject({ result: { errorReason: 'duplicate_settlement' } })
  })
})
