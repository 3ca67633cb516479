import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/platform/clock.js'
import type { IdempotencyState, IdempotencyStore } from '../../../src/ports/idempotencyStore.js'
import { findRemedy, isReason, type Reason, reasons } from '../../../src/protocol/reasons.js'
import type { WirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createConcurrencyLimits } from '../../../src/usecases/core/concurrencyLimits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settleAuthorization.js'
import { createSettlePayment } from '../../../src/usecases/core/settlePayment.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyScheme, type ToyScript, toyBody } from '../../support/toyScheme.js'

/** A minimal store for the keys of one caller. */
const createKeys = (): IdempotencyStore => {
  const known = new Map<string, { fingerprint: string; answer: IdempotencyState }>()
  return {
    begin: async ({ key, fingerprint }) => {
      const earlier = known.get(key)
      if (earlier !== undefined && earlier.fingerprint !== fingerprint) return { state: 'mismatch' }
      if (earlier !== undefined) return earlier.answer
      known.set(key, { fingerprint, answer: { state: 'running' } })
      return { state: 'started' }
    },
    answer: async ({ key, fingerprint }, response) =>
      void known.set(key, { fingerprint, answer: { state: 'answered', response } }),
    fail: async ({ key, fingerprint }, reason) =>
      void known.set(key, { fingerprint, answer: { state: 'failed', reason } }),
    release: async ({ key }) => void known.delete(key),
    forget: async ({ key }) => void known.delete(key),
    purge: async () => {},
  }
}

const setup = (script: ToyScript = {}) => {
  const logger = createMemoryLogger()
  const settlePayment = createSettlePayment({
    idempotency: createKeys(),
    settleAuthorization: createSettleAuthorization({
      registry: createSchemeRegistry([createToyScheme(script)]),
      journal: createMemoryJournal(),
      limits: { spend: async () => () => undefined },
      concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
      clock: systemClock,
      logger,
      waitMs: 5_000,
    }),
    logger,
  })
  return (body: WirePaymentRequest, idempotencyKey: string | null = null) =>
    settlePayment({ body, caller: 'anonymous', quota: null, idempotencyKey })
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

  it('leaves its Idempotency-Key free: nothing was opened', async () => {
    const settle = setup()
    const refused = { result: { success: false, errorReason } }
    expect(await settle(body, 'order-1')).toMatchObject(refused)
    expect(await settle(body, 'order-1')).toMatchObject(refused)
    expect(await settle(toyBody(), 'order-1')).toMatchObject({ result: { success: true } })
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
