import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCommonPayload, isCommonRequest } from '../../src/protocol/fastPath.js'
import { payloadShape, wirePaymentRequest } from '../../src/protocol/wire.js'
import { bodyFlat, bodyV1, bodyV2, requirements } from './wirePayments.js'

/* The fast path must accept exactly a subset of what the schemas accept unchanged. */

const oddities: readonly unknown[] = [
  undefined,
  null,
  '',
  '0',
  ' 7',
  '-1',
  '0x10',
  '9'.repeat(77),
  '9'.repeat(78),
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(257),
  `https://merchant.example/${'x'.repeat(8_192)}`,
  'nul\0',
  0,
  7,
  -1,
  1.5,
  31_536_000,
  31_536_001,
  Number.MAX_SAFE_INTEGER + 1,
  true,
  [],
  {},
  { url: 'https://merchant.example' },
  { url: 7 },
]

type Fields = Readonly<Record<string, unknown>>

/** The body with one path changed; missing steps are created. */
const change = (value: unknown, [step, ...others]: readonly string[], put: unknown): unknown => {
  if (step === undefined) return put
  const fields: Fields = typeof value === 'object' && value !== null ? { ...value } : {}
  return { ...fields, [step]: change(fields[step], others, put) }
}

const fields = [
  ...[
    'payVersion',
    'x402Version',
    't402Version',
    'scheme',
    'network',
    'amount',
    'maxAmount',
    'maxAmountRequired',
    'minAmount',
    'settleAmount',
    'usageDetails',
  ],
  ...['asset', 'payTo', 'maxTimeoutSeconds', 'extra', 'resource', 'description', 'mimeType', 'outputSchema'],
  ...['extensions', 'payload', 'accepted', 'unknown'],
]
const places = [
  [],
  ['paymentPayload'],
  ['paymentRequirements'],
  ...fields.flatMap((field) => [
    [field],
    ['paymentPayload', field],
    ['paymentPayload', 'accepted', field],
    ['paymentPayload', 'resource', field],
    ['paymentRequirements', field],
  ]),
  ['paymentPayload', 'resource', 'url'],
]

const changedBody = fc
  .tuple(
    fc.constantFrom<unknown>(bodyV2, bodyV1, bodyFlat),
    fc.array(fc.tuple(fc.constantFrom(...places), fc.constantFrom(...oddities)), { maxLength: 3 }),
  )
  .map(([body, changes]) => changes.reduce((changed, [place, put]) => change(changed, place, put), body))

const payloadOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'paymentPayload' in body ? body.paymentPayload : body

describe('the fast path', () => {
  it('accepts only requests that the schema accepts unchanged', () => {
    fc.assert(
      fc.property(changedBody, (body) => {
        if (!isCommonRequest(body)) return
        expect(wirePaymentRequest.safeParse(body)).toEqual({ success: true, data: body })
      }),
      { numRuns: 5_000 },
    )
  })

  it('accepts only payloads that the schema accepts unchanged', () => {
    fc.assert(
      fc.property(changedBody.map(payloadOf), (payload) => {
        if (!isCommonPayload(payload)) return
        expect(payloadShape.safeParse(payload)).toEqual({ success: true, data: payload })
      }),
      { numRuns: 5_000 },
    )
  })

  it('accepts no more than that, whatever value any single path has', () => {
    for (const place of places) {
      for (const put of oddities) {
        const body = change(bodyV2, place, put)
        const where = `${place.join('.')}: ${JSON.stringify(put)}`
        if (isCommonRequest(body)) expect(wirePaymentRequest.safeParse(body).data, where).toEqual(body)
        const payload = payloadOf(body)
        if (isCommonPayload(payload)) expect(payloadShape.safeParse(payload).data, where).toEqual(payload)
      }
    }
  })

  it('accepts what version 2 clients send', () => {
    expect(isCommonRequest({ x402Version: 2, ...bodyV2 })).toBe(true)
    expect(isCommonPayload({ x402Version: 2, ...bodyV2.paymentPayload })).toBe(true)
    expect(isCommonRequest({ ...bodyV2, paymentRequirements: { ...requirements, tags: ['a'] } })).toBe(true)
  })
})
