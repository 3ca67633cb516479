import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../src/errors.js'
import type { Recorder } from '../../../src/ports/settlementJournal.js'
import { findRemedy, isReason, type Reason, reasons } from '../../../src/protocol/reasons.js'
import type { WirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Outcome } from '../../../src/schemes/scheme.js'
import { createSettlePayment } from '../../../src/usecases/core/settle/settlePayment.js'
import { createMemoryIdempotency } from '../../support/memoryIdempotency.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createUnlimitedSettle } from '../../support/settleAuthorization.js'
import { createToyScheme, type ToyScript, toyAuthorized, toyBody } from '../../support/toyScheme.js'

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

const ofOtherScheme = (network?: string) => {
  const { paymentPayload, paymentRequirements } = toyBody('nonce-1', network)
  const terms = { ...paymentRequirements, scheme: 'other' }
  return { paymentPayload: { ...paymentPayload, accepted: terms }, paymentRequirements: terms }
}

const allReasons = Object.keys(reasons).filter(isReason)
const openReasons = ['settlement_pending', 'duplicate_settlement']
const listReasons = (isFinal: boolean) =>
  allReasons.filter((each) => !openReasons.includes(each) && findRemedy(each).isFinal === isFinal)

const unserved = [
  ['network', toyBody('nonce-1', 'toy:2'), 'invalid_network'],
  ['scheme', ofOtherScheme(), 'unsupported_scheme'],
  ['scheme and network', ofOtherScheme('toy:2'), 'invalid_network'],
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
    expect(await rejectionOf(keyed(body))).toMatchObject({
      code: 'PREVIOUS_REQUEST_FAILED',
      reason: errorReason,
    })
  })
})

describe('a payment that is refused before it is claimed, under the Idempotency-Key of an account,', () => {
  const refuseWith = (reason: Reason) => {
    let verified = 0
    const settle = setup({
      verify: async () => {
        verified += 1
        return { isValid: false, reason, payer: 'alice' }
      },
    })
    return {
      settle: (caller: string) => settle(toyBody(), 'order-1', caller),
      countVerified: () => verified,
    }
  }

  it.each(listReasons(true))('is PREVIOUS_REQUEST_FAILED without another look after %s', async (reason) => {
    const { settle, countVerified } = refuseWith(reason)
    const refused = { success: false, errorReason: reason, retryable: false }
    expect(await settle('account-1')).toMatchObject({ result: refused })
    const verified = countVerified()
    expect(await rejectionOf(settle('account-1'))).toMatchObject({ code: 'PREVIOUS_REQUEST_FAILED', reason })
    expect(countVerified()).toBe(verified)
    // Another caller has keys of its own.
    expect(await settle('account-2')).toMatchObject({ result: refused })
  })

  it.each(listReasons(false))('is judged again after %s', async (reason) => {
    const { settle } = refuseWith(reason)
    const refused = { result: { success: false, errorReason: reason, retryable: true }, isReplayed: false }
    expect(await settle('account-1')).toMatchObject(refused)
    expect(await settle('account-1')).toMatchObject(refused)
  })

  it('is judged again without an API key, so that a stranger cannot end a payment', async () => {
    const { settle } = refuseWith('authorization_expired_unsettled')
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await settle('anonymous')).toMatchObject({ result: { success: false } })
    }
  })
})

const paidTo = (payTo: string, nonce = 'nonce-1') => {
  const { paymentPayload, paymentRequirements } = toyBody(nonce)
  const terms = { ...paymentRequirements, payTo }
  return { paymentPayload: { ...paymentPayload, accepted: terms }, paymentRequirements: terms }
}

/** Counts what is sent. */
const setupCounted = () => {
  let sent = 0
  const settle = setup({
    settle: async (_payment, recorder) => {
      sent += 1
      return await confirmOnce(recorder)
    },
  })
  return { settle, countSent: () => sent }
}

const confirmOnce = async (recorder: Recorder): Promise<Outcome> => {
  const transaction = `transaction of ${recorder.settlementId}`
  await recorder.record({ transaction, bytes: 'bytes' })
  return { state: 'confirmed', transaction }
}

describe('an Idempotency-Key of callers without an API key (A53)', () => {
  it('charges once: a retry with a new signature is PAYLOAD_MISMATCH', async () => {
    const { settle, countSent } = setupCounted()
    const first = await settle(toyBody('nonce-1'), 'order-1')
    expect(first).toMatchObject({ result: { success: true }, isReplayed: false })
    expect(await rejectionOf(settle(toyBody('nonce-2'), 'order-1'))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
    expect(await rejectionOf(settle({ ...toyBody('nonce-1'), note: 'junk' }, 'order-1'))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
    expect(countSent()).toBe(1)
    expect(await settle(toyBody('nonce-1'), 'order-1')).toEqual({ ...first, isReplayed: true })
  })

  it('charges once when two payloads arrive at the same time', async () => {
    const { settle, countSent } = setupCounted()
    const outcomes = await Promise.all(
      ['nonce-1', 'nonce-2', 'nonce-3'].map((nonce) =>
        settle(toyBody(nonce), 'order-1').then(
          ({ result }) => result.success,
          (error: AppError) => error.code,
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['PAYLOAD_MISMATCH', 'PAYLOAD_MISMATCH', true])
    expect(countSent()).toBe(1)
  })

  it('is not held by what was refused, and not while it is verified', async () => {
    let verify = (): void => undefined
    const verifying = new Promise<void>((resolve) => {
      verify = resolve
    })
    const settle = setup({
      verify: async (payment) => {
        const authorized = toyAuthorized(payment, { settle: confirmOnce })
        if (authorized.authorizationId === 'toy:1/slow') await verifying
        return authorized.authorizationId === 'toy:1/poor'
          ? { isValid: false, reason: 'insufficient_funds', payer: 'alice' }
          : authorized
      },
    })
    const stranger = settle(toyBody('slow'), 'order-1')
    expect(await settle(ofOtherScheme(), 'order-1')).toMatchObject({ result: { success: false } })
    expect(await settle(toyBody('poor'), 'order-1')).toMatchObject({ result: { success: false } })
    const settled = await settle(toyBody(), 'order-1')
    expect(settled).toMatchObject({ result: { success: true }, isReplayed: false })
    expect(await rejectionOf(settle(toyBody('poor'), 'order-1'))).toMatchObject({ code: 'PAYLOAD_MISMATCH' })
    verify()
    expect(await rejectionOf(stranger)).toMatchObject({ code: 'PAYLOAD_MISMATCH' })
    expect(await settle(toyBody(), 'order-1')).toEqual({ result: settled.result, isReplayed: true })
  })

  it.each([
    ['failed before it was sent', async () => ({ state: 'failed', reason: 'transaction_failed' }) as const],
    [
      'failed on chain',
      async (_payment: unknown, recorder: Recorder) => {
        await recorder.record({ transaction: 'tx-failed', bytes: 'bytes' })
        return { state: 'failed', reason: 'transaction_failed', transaction: 'tx-failed' } as const
      },
    ],
    ['threw before it was sent', async () => Promise.reject(new Error('The node does not answer'))],
  ])('is not held by a settlement that %s', async (_name, fail) => {
    let isFirst = true
    const settle = setup({
      settle: async (payment, recorder) => {
        if (isFirst) {
          isFirst = false
          return await fail(payment, recorder)
        }
        await recorder.record({ transaction: 'tx-2', bytes: 'bytes-2' })
        return { state: 'confirmed', transaction: 'tx-2' }
      },
    })
    await settle(toyBody('nonce-1'), 'order-1').catch(() => null)
    expect(await settle(toyBody('nonce-2'), 'order-1')).toMatchObject({ result: { success: true } })
  })

  it('is held by a settlement that is pending', async () => {
    const settle = setup({
      settle: async (_payment, recorder) => {
        const transaction = `transaction of ${recorder.settlementId}`
        await recorder.record({ transaction, bytes: 'bytes' })
        return { state: 'pending', transaction }
      },
    })
    const pending = { success: false, errorReason: 'settlement_pending' }
    expect(await settle(toyBody('nonce-1'), 'order-1')).toMatchObject({ result: pending })
    expect(await rejectionOf(settle(toyBody('nonce-2'), 'order-1'))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
  })

  it('belongs to one recipient', async () => {
    const settle = setup()
    expect(await settle(paidTo('a-stranger', 'nonce-of-a-stranger'), 'order-1')).toMatchObject({
      result: { success: true },
    })
    expect(await settle(paidTo('bob'), 'order-1')).toMatchObject({ result: { success: true } })
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
