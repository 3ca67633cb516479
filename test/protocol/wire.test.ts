import { describe, expect, it } from 'vitest'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import { bodyFlat, bodyV1, bodyV2, requirements, requirementsV1 } from './wirePayments.js'

const problemsOf = (body: unknown): readonly string[] => {
  const parsed = wirePaymentRequest.safeParse(body)
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'))
}

const withRequirements = (changes: Readonly<Record<string, unknown>>) => ({
  ...bodyV2,
  paymentRequirements: { ...requirements, ...changes },
})

describe('a body', () => {
  it.each([
    ['version 1', bodyV1],
    ['version 2', bodyV2],
    ['the flat shape', bodyFlat],
    ['version 2 with its version', { ...bodyV2, x402Version: 2, t402Version: 2, payVersion: 2 }],
  ])('of %s is accepted unchanged', (_, body) => {
    expect(wirePaymentRequest.parse(body)).toEqual(body)
  })

  it('keeps unknown fields: they are part of the fingerprint', () => {
    const body = { ...withRequirements({ tags: ['a'], extra: { deep: { er: 1 } } }), traceId: 'x' }
    expect(wirePaymentRequest.parse(body)).toEqual(body)
  })

  it.each([
    [undefined, ''],
    [null, ''],
    ['text', ''],
    [[], ''],
    [{ paymentRequirements: requirements }, 'paymentPayload'],
    [{ ...bodyV2, paymentPayload: null }, 'paymentPayload'],
    [{ ...bodyV2, paymentPayload: [] }, 'paymentPayload'],
    [{ ...bodyV2, paymentPayload: 'AQAB' }, 'paymentPayload'],
    [{ paymentPayload: bodyV2.paymentPayload }, 'paymentRequirements'],
    [{ ...bodyV2, paymentRequirements: [requirements] }, 'paymentRequirements'],
    [{ ...bodyV2, payVersion: '2' }, 'payVersion'],
    [{ ...bodyV2, x402Version: 1.5 }, 'x402Version'],
    [{ ...bodyV2, t402Version: null }, 't402Version'],
  ])('is rejected if its envelope is invalid: %j', (body, path) => {
    expect(problemsOf(body)).toEqual([path])
  })

  it('leaves the payload to readPayment', () => {
    expect(problemsOf({ ...bodyV2, paymentPayload: {} })).toEqual([])
    expect(problemsOf({ ...bodyV2, paymentPayload: { payload: 7, accepted: [] } })).toEqual([])
  })
})

describe('requirements', () => {
  it.each([
    ['scheme', undefined],
    ['scheme', ''],
    ['scheme', 7],
    ['scheme', 'x'.repeat(65)],
    ['network', undefined],
    ['network', ''],
    ['network', 84532],
    ['network', 'x'.repeat(129)],
    ['asset', undefined],
    ['asset', ''],
    ['asset', 'x'.repeat(257)],
    ['payTo', undefined],
    ['payTo', null],
    ['payTo', 'x'.repeat(257)],
    ['maxTimeoutSeconds', undefined],
    ['maxTimeoutSeconds', null],
    ['maxTimeoutSeconds', 0],
    ['maxTimeoutSeconds', -1],
    ['maxTimeoutSeconds', '60'],
    ['maxTimeoutSeconds', 31_536_001],
    ['maxTimeoutSeconds', Number.POSITIVE_INFINITY],
    ['extra', 'USDC'],
    ['extra', []],
    ['extensions', 'bazaar'],
    ['resource', 7],
    ['resource', 'x'.repeat(8_193)],
    ['resource', 'https://a.example/\0'],
    ['description', 7],
    ['mimeType', {}],
  ])('are rejected with the path %s for %j', (field, value) => {
    expect(problemsOf(withRequirements({ [field]: value }))).toEqual([`paymentRequirements.${field}`])
  })

  it.each([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', ' '],
    ['signed', '-1'],
    ['signed with plus', '+1'],
    ['hex', '0x10'],
    ['in exponent form', '1e4'],
    ['a fraction', '0.01'],
    ['a fractional number', 0.5],
    ['negative', -1],
    ['an unsafe integer', 2 ** 53],
    ['2^256', String(2n ** 256n)],
    ['79 digits', '0'.repeat(79)],
    ['a bigint', 7n],
  ])('are rejected with the path of an amount that is %s', (_, value) => {
    expect(problemsOf(withRequirements({ amount: value }))).toEqual(['paymentRequirements.amount'])
    const body = { ...bodyV1, paymentRequirements: { ...requirementsV1, maxAmountRequired: value } }
    const field = value === undefined ? 'amount' : 'maxAmountRequired'
    expect(problemsOf(body)[0]).toBe(`paymentRequirements.${field}`)
  })

  it.each([
    [{ amount: undefined, maxAmount: '10000', minAmount: '10000' }, []],
    [{ amount: undefined, maxAmount: '10000', minAmount: '10001' }, ['paymentRequirements.minAmount']],
    [{ amount: '10000', minAmount: '10001' }, ['paymentRequirements.minAmount']],
    [{ amount: '10000', minAmount: 10_001 }, ['paymentRequirements.minAmount']],
    // x402 charges nothing: the charge takes the place of the maximum.
    [{ amount: '0', minAmount: '10001' }, []],
    // Only `upto` has a minimum.
    [{ scheme: 'exact', amount: '10000', minAmount: '10001' }, []],
  ])('have no minimum above the maximum: %o', (changes, problems) => {
    expect(problemsOf(withRequirements({ scheme: 'upto', ...changes }))).toEqual(problems)
  })

  it.each(['minAmount', 'settleAmount'])('validate %s like an amount', (field) => {
    const problemsWith = (value: unknown) =>
      problemsOf(
        field === 'minAmount' ? withRequirements({ [field]: value }) : { ...bodyV2, [field]: value },
      ).map((path) => path.replace('paymentRequirements.', ''))
    for (const bad of [null, '', ' ', '-1', '+1', '0x10', '1e4', '0.01', 0.5, -1, 2 ** 53, 7n, [], {}]) {
      expect(problemsWith(bad)).toEqual([field])
    }
    for (const beyond of [String(2n ** 256n), '0'.repeat(79)]) expect(problemsWith(beyond)).toEqual([field])
    for (const good of [undefined, 0, '0', '00', 1, String(2n ** 256n - 1n)]) {
      expect(problemsWith(good)).toEqual([])
    }
  })

  it.each([
    ['usageDetails', 'text'],
    ['usageDetails', []],
    ['usageDetails.unitsConsumed', { unitsConsumed: '1' }],
    ['usageDetails.unitsConsumed', { unitsConsumed: -1 }],
    ['usageDetails.unitsConsumed', { unitsConsumed: Number.POSITIVE_INFINITY }],
    ['usageDetails.unitPrice', { unitPrice: 1 }],
    ['usageDetails.unitType', { unitType: 'x'.repeat(129) }],
    ['usageDetails.startTime', { startTime: 'now' }],
    ['usageDetails.endTime', { endTime: -1 }],
  ])('are rejected with the path %s for usageDetails %j', (field, usageDetails) => {
    expect(problemsOf({ ...bodyV2, usageDetails })).toEqual([field])
  })

  it.each([0, '0', '00', 1, String(2n ** 256n - 1n)])('accept the amount %j', (amount) => {
    expect(problemsOf(withRequirements({ amount }))).toEqual([])
  })

  it('accept equal amounts under several names, and reject different ones', () => {
    expect(problemsOf(withRequirements({ maxAmountRequired: 10_000, maxAmount: '010000' }))).toEqual([])
    expect(problemsOf(withRequirements({ maxAmountRequired: '10001' }))).toEqual([
      'paymentRequirements.maxAmountRequired',
    ])
    expect(problemsOf(withRequirements({ maxAmount: '1', maxAmountRequired: '2' }))).toEqual([
      'paymentRequirements.maxAmountRequired',
      'paymentRequirements.maxAmount',
    ])
  })

  it('need no maxTimeoutSeconds in version 1', () => {
    const { maxTimeoutSeconds: _omitted, ...rest } = requirementsV1
    expect(problemsOf({ ...bodyV1, paymentRequirements: rest })).toEqual([])
  })

  it.each(['extra', 'extensions'])('accept %s as null or absent', (field) => {
    expect(problemsOf(withRequirements({ [field]: null }))).toEqual([])
    expect(problemsOf(withRequirements({ [field]: undefined }))).toEqual([])
  })

  it('report every invalid field at once', () => {
    const wrong = { scheme: '', network: 7, amount: '-1', asset: '', payTo: null }
    expect([...problemsOf(withRequirements(wrong))].sort()).toEqual(
      Object.keys(wrong)
        .map((field) => `paymentRequirements.${field}`)
        .sort(),
    )
  })
})
