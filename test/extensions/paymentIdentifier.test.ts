import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  generatePaymentId,
} from '@x402/extensions/payment-identifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paymentIdentifierExtension, readPaymentIdentifier } from '../../src/extensions/paymentIdentifier.js'
import type { Payment } from '../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import { toyBody } from '../support/toyScheme.js'

interface Extensions {
  readonly declared?: Record<string, unknown>
  readonly sent?: Record<string, unknown>
}

const paymentWith = ({ declared, sent }: Extensions): Payment => {
  const body = toyBody()
  const payment = readPayment({
    paymentPayload: { ...body.paymentPayload, extensions: sent },
    paymentRequirements: { ...body.paymentRequirements, extensions: declared },
  })
  if (isRefused(payment)) throw new Error(payment.message)
  return payment
}

const find = (extensions: Extensions) => paymentIdentifierExtension.findProblem(paymentWith(extensions))
const read = (extensions: Extensions) => readPaymentIdentifier(paymentWith(extensions))

const id = 'pay_7d5d747be160e280504c099d984bcfe0'
const x402 = (info: unknown) => ({ 'payment-identifier': { info } })
const t402 = (info: unknown) => ({ paymentId: { info } })

describe('the identifier of a payment', () => {
  it.each([
    [
      'of an x402 client',
      { sent: x402({ required: false, id }) },
      { dialect: 'x402', id, isDeclared: false },
    ],
    [
      'of an x402 client whose resource server declares it in its requirements',
      { declared: x402({ required: true }), sent: x402({ required: true, id }) },
      { dialect: 'x402', id, isDeclared: true },
    ],
    [
      'of a t402 server, repeated by the client',
      { sent: t402({ id: 'p1', idempotencyKey: 'order-1' }) },
      { dialect: 't402', id: 'order-1', isDeclared: false },
    ],
    [
      'of a t402 server in its requirements',
      { declared: t402({ id: 'p1', idempotencyKey: 'order-1' }), sent: t402({ id: 'p1', clientId: 'c' }) },
      { dialect: 't402', id: 'order-1', isDeclared: true },
    ],
    ['is none where t402 only correlates', { sent: t402({ id: 'p1' }) }, null],
    ['is none where the client has none', { declared: x402({ required: false }) }, null],
    ['is none without the extension', {}, null],
  ])('%s', (_name, extensions, expected) => {
    expect(find(extensions)).toBeNull()
    expect(read(extensions)).toEqual(expected)
  })

  it('is read from what the published package appends', () => {
    const declared = { 'payment-identifier': { ...declarePaymentIdentifierExtension(true) } }
    const chosen = generatePaymentId()
    const sent = appendPaymentIdentifierToExtensions(structuredClone(declared), chosen)
    expect(read({ sent })).toEqual({ dialect: 'x402', id: chosen, isDeclared: false })
  })
})

describe('a malformed identifier', () => {
  it.each([
    ['payload', 'payment-identifier', { sent: { 'payment-identifier': 5 } }],
    ['payload', 'payment-identifier.info', { sent: x402(null) }],
    ['payload', 'payment-identifier.info.required', { sent: x402({ required: 'yes' }) }],
    ['payload', 'payment-identifier.info.id', { sent: x402({ required: true, id: 'short' }) }],
    ['payload', 'payment-identifier.info.id', { sent: x402({ required: true, id: 'x'.repeat(129) }) }],
    ['payload', 'payment-identifier.info.id', { sent: x402({ required: true, id: `${id}\n` }) }],
    ['payload', 'payment-identifier.info.id', { sent: x402({ required: true, id: 7 }) }],
    ['requirements', 'payment-identifier.info', { declared: { 'payment-identifier': {} } }],
    ['payload', 'paymentId.info.id', { sent: t402({}) }],
    ['payload', 'paymentId.info.idempotencyKey', { sent: t402({ id: 'p', idempotencyKey: '' }) }],
    ['payload', 'paymentId.info.groupId', { sent: t402({ id: 'p', groupId: 'x'.repeat(257) }) }],
    ['payload', 'paymentId.info.clientId', { sent: t402({ id: 'p', clientId: 'a\0b' }) }],
    ['payload', 'paymentId.info.id', { declared: t402({ id: 'p1' }), sent: t402({ id: 'p2' }) }],
  ])('is found in the %s at %s', (origin, path, extensions) => {
    expect(find(extensions)).toMatchObject({ origin, path })
  })

  it('is one that the resource server requires and the client leaves out', () => {
    const missing = { reason: 'payment_identifier_required', origin: 'payload' }
    expect(find({ declared: x402({ required: true }) })).toMatchObject(missing)
    expect(find({ sent: x402({ required: true }) })).toMatchObject(missing)
  })

  it('never throws, whatever the extension is', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (declared, sent) => {
        const payment = {
          ...paymentWith({}),
          declaredExtensions: { 'payment-identifier': declared, paymentId: sent },
          clientExtensions: { 'payment-identifier': sent, paymentId: declared },
        }
        if (paymentIdentifierExtension.findProblem(payment) === null) readPaymentIdentifier(payment)
      }),
    )
  })
})
