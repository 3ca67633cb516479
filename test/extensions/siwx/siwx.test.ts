import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { siwx } from '../../../src/extensions/siwx/declaration.js'
import { readProof } from '../../../src/extensions/siwx/proof.js'
import type { Fields } from '../../../src/protocol/fields.js'
import type { Payment } from '../../../src/protocol/payment.js'
import { signInReasons } from '../../../src/protocol/siwx.js'
import { plainPayment } from '../../support/plainPayment.js'
import { signInFields, toProof } from '../../support/siwx.js'

const payment = (declaredExtensions: Fields): Payment => plainPayment({ declaredExtensions })

describe('the extension siwx of a payment', () => {
  it.each(['siwx', 'sign-in-with-x'])('%s is declared with an object of info', (key) => {
    expect(siwx.keys).toContain(key)
    expect(siwx.findProblem(payment({}))).toBeNull()
    expect(siwx.findProblem(payment({ [key]: { info: {}, schema: {} } }))).toBeNull()
    for (const info of [undefined, null, 'text', []]) {
      expect(siwx.findProblem(payment({ [key]: { info } }))).toMatchObject({
        origin: 'requirements',
        path: `${key}.info`,
      })
    }
    for (const declaration of [null, 'text', [], 7]) {
      expect(siwx.findProblem(payment({ [key]: declaration }))).toMatchObject({ path: key })
    }
    const large = { info: { statement: 'a'.repeat(20_000) } }
    expect(siwx.findProblem(payment({ [key]: large }))).toMatchObject({ path: key })
  })
})

describe('a proof', () => {
  const whole = toProof(signInFields({ address: '0x18f77dd01186556F1F745E7847A4686421dEE072' }), '0x00')

  it('of any content is read, or refused with a reason, and never throws', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.jsonValue(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc
        .tuple(fc.constantFrom(...Object.keys(whole)), fc.anything())
        .map(([field, value]) => ({ ...whole, [field]: value })),
    )
    fc.assert(
      fc.property(anything, (proof) => {
        const reading = readProof(proof)
        if ('reason' in reading) expect(signInReasons).toHaveProperty(reading.reason)
        else expect(Object.values(reading.fields).join('')).not.toMatch(/[\n\r\u2028\u2029]/)
      }),
    )
  })

  it('is read from base64 and base64url, with and without padding', () => {
    const bytes = Buffer.from(JSON.stringify({ ...whole, statement: 'Größe ÿþ?>' }))
    for (const header of [bytes.toString('base64'), bytes.toString('base64url')]) {
      expect(readProof(header)).toMatchObject({ fields: { statement: 'Größe ÿþ?>' } })
      expect(readProof(header.replace(/=+$/, ''))).toMatchObject({ fields: { statement: 'Größe ÿþ?>' } })
    }
  })

  it('without a value, with null and with empty text says the same', () => {
    for (const absent of [undefined, null, '']) {
      const reading = readProof({ ...whole, statement: absent, requestId: absent, signatureScheme: absent })
      expect(reading).toMatchObject({ fields: { statement: null, requestId: null }, scheme: null })
    }
  })
})
