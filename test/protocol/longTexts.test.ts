import { describe, expect, it } from 'vitest'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import { paymentBody } from '../http/support/payment.js'

const read = (payload: unknown) => {
  const body = paymentBody()
  return readPayment(
    wirePaymentRequest.parse({ ...body, paymentPayload: { ...body.paymentPayload, payload } }),
  )
}

describe('the texts of a proof', () => {
  it.each([
    ['a signature of 16 kB in hex', { signature: `0x${'0'.repeat(32_768)}` }],
    ['a transaction of 16,384 characters', { transaction: 'A'.repeat(16_384) }],
  ])('may be as long as %s', (_, proof) => {
    expect(isRefused(read(proof))).toBe(false)
  })

  it.each([
    ['in a signature', { signature: `0x${'0'.repeat(32_770)}` }],
    ['in another text', { transaction: 'A'.repeat(16_385) }],
    ['within', { authorization: { nonce: ['A'.repeat(16_385)] } }],
  ])('are refused where they are longer, %s', (_, proof) => {
    expect(read(proof)).toMatchObject({ reason: 'invalid_payload_structure' })
  })

  it('are found at any depth', () => {
    let nested: unknown = 'A'.repeat(16_385)
    for (let depth = 0; depth < 20_000; depth += 1) nested = [nested]
    expect(read({ nested })).toMatchObject({ reason: 'invalid_payload_structure' })
  })
})
