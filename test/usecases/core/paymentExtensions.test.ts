import { describe, expect, it } from 'vitest'
import type { PaymentExtension } from '../../../src/extensions/extension.js'
import { paymentIdentifierExtension } from '../../../src/extensions/paymentIdentifier.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createPaymentExtensions } from '../../../src/usecases/core/paymentExtensions.js'
import { createSettlePayment } from '../../../src/usecases/core/settle/settlePayment.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createMemoryIdempotency } from '../../support/memoryIdempotency.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createUnlimitedSettle } from '../../support/settleAuthorization.js'
import { createToyScheme, type ToyScript, toyBody } from '../../support/toyScheme.js'

const setup = (others: readonly PaymentExtension[] = [], script: ToyScript = {}) => {
  const logger = createMemoryLogger()
  const registry = createSchemeRegistry([createToyScheme(script)])
  const journal = createMemoryJournal()
  const extensions = createPaymentExtensions([paymentIdentifierExtension, ...others], logger)
  const shared = {
    registry,
    journal,
    logger,
    extensions,
    holdFunds: async <T>(_payment: unknown, verdict: T) => verdict,
  }
  const settlePayment = createSettlePayment({
    ...shared,
    idempotency: createMemoryIdempotency(),
    settleAuthorization: createUnlimitedSettle(shared),
  })
  const verifyPayment = createVerifyPayment({
    ...shared,
    quotaGate: async () => null,
    deadlineMs: waitLimitMs,
  })
  const request = { quota: null, isAwaited: () => true }
  return {
    logger,
    verify: (body: Body, caller = 'anonymous') => verifyPayment({ ...request, body, caller }),
    settle: (
      body: Body,
      { caller = 'anonymous', key = null }: { caller?: string; key?: string | null } = {},
    ) => settlePayment({ ...request, body, caller, idempotencyKey: key }),
  }
}

interface Extended {
  readonly declared?: Record<string, unknown>
  readonly sent?: Record<string, unknown>
}

const body = (nonce: string, { declared, sent }: Extended) => {
  const { paymentPayload, paymentRequirements } = toyBody(nonce)
  return {
    paymentPayload: { ...paymentPayload, extensions: sent },
    paymentRequirements: { ...paymentRequirements, extensions: declared },
  }
}

type Body = ReturnType<typeof body>

const id = 'pay_7d5d747be160e280504c099d984bcfe0'
const ofClient = { sent: { 'payment-identifier': { info: { required: false, id } } } }
const declared = { ...ofClient, declared: { 'payment-identifier': { info: { required: false } } } }

describe.each(['anonymous', 'account-1'])('a payment identifier, for the caller %s', (caller) => {
  it('replays the success where the resource server declares it', async () => {
    const { settle } = setup()
    const first = await settle(body('n1', declared), { caller })
    expect(first).toMatchObject({ result: { success: true }, isReplayed: false })
    expect(await settle(body('n1', declared), { caller })).toEqual({ result: first.result, isReplayed: true })
  })

  it('earns a client that repeats its payment no second success where only the client names it', async () => {
    const { settle } = setup()
    const first = await settle(body('n1', ofClient), { caller })
    expect(first.result.success).toBe(true)
    const again = await settle(body('n1', ofClient), { caller })
    expect(again.result).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: first.result.transaction,
    })
  })

  it.each([
    ['declared', declared],
    ['of the client alone', ofClient],
  ])('%s refuses a second payment, so that the client is not charged twice', async (_name, extensions) => {
    const { settle } = setup()
    await settle(body('n1', extensions), { caller })
    expect(await rejectionOf(settle(body('n2', extensions), { caller }))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
  })

  it('may be used again after a refusal', async () => {
    const { settle } = setup([], {
      verify: async () => ({ isValid: false, payer: null, reason: 'insufficient_funds' }),
    })
    const refused = { result: { success: false, errorReason: 'insufficient_funds' } }
    expect(await settle(body('n1', declared), { caller })).toMatchObject(refused)
    expect(await settle(body('n2', declared), { caller })).toMatchObject(refused)
  })

  it('does not weaken an Idempotency-Key', async () => {
    const { settle } = setup()
    const first = await settle(body('n1', ofClient), { caller, key: 'order-1' })
    expect(await settle(body('n1', ofClient), { caller, key: 'order-1' })).toEqual({
      result: first.result,
      isReplayed: true,
    })
    expect(await rejectionOf(settle(body('n2', ofClient), { caller, key: 'order-2' }))).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
  })
})

it('belongs to one account', async () => {
  const { settle } = setup()
  await settle(body('n1', declared), { caller: 'account-1' })
  expect(await settle(body('n2', declared), { caller: 'account-2' })).toMatchObject({
    result: { success: true },
  })
})

describe('extensions', () => {
  it('of the payer that are malformed are refused by verify and settle with the path', async () => {
    const { verify, settle } = setup()
    const malformed = body('n1', { sent: { 'payment-identifier': 5 } })
    const message = 'paymentPayload.extensions.payment-identifier: must be an object'
    expect(await verify(malformed)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_extension',
      invalidMessage: message,
    })
    expect((await settle(malformed)).result).toMatchObject({
      success: false,
      errorReason: 'invalid_extension',
      errorMessage: message,
    })
  })

  it('of the resource server that are malformed are its own mistake', async () => {
    const { verify, settle } = setup()
    const malformed = body('n1', { declared: { paymentId: { info: [] } } })
    const mistake = {
      code: 'INVALID_REQUEST',
      message: 'paymentRequirements.extensions.paymentId.info: must be an object',
    }
    expect(await rejectionOf(verify(malformed))).toMatchObject(mistake)
    expect(await rejectionOf(settle(malformed))).toMatchObject(mistake)
  })

  it('that are unknown pass untouched', async () => {
    const { verify, settle } = setup()
    const unknown = body('n1', { declared: { 'x-loyalty': 5 }, sent: { 'x-loyalty': [], other: null } })
    expect(await verify(unknown)).toMatchObject({ isValid: true })
    expect((await settle(unknown)).result).toMatchObject({ success: true })
  })

  it('say in the settle answer what became of them, and never fail it', async () => {
    const plain = { keys: ['plain'], findProblem: () => null }
    const listing = {
      ...plain,
      keys: ['listing'],
      onSettled: async () => ({ key: 'listing', answer: { status: 'success' } }),
    }
    const broken = {
      ...plain,
      keys: ['broken'],
      onSettled: async () => {
        throw new Error('no catalogue')
      },
    }
    const { settle, logger } = setup([plain, broken, listing])
    const { result } = await settle(body('n1', {}))
    expect(result).toMatchObject({ success: true, extensions: { listing: { status: 'success' } } })
    expect(result.extensions).not.toHaveProperty('broken')
    expect(logger.messages()).toContain('extension.failed')
  })
})
