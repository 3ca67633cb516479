import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Payment } from '../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import { withoutExtensions } from '../support/plainPayment.js'
import {
  asset,
  authorization,
  bodyFlat,
  bodyV1,
  bodyV2,
  payTo,
  proof,
  requirements,
  requirementsV1,
} from './wirePayments.js'

/** Reads a body as the service does: the wire schema, then the payment. */
const read = (body: unknown, options: Parameters<typeof readPayment>[1] = {}) =>
  readPayment(wirePaymentRequest.parse(body), options)

const readable = (body: unknown): Payment => {
  const reading = read(body)
  if (isRefused(reading)) throw new Error(`refused as ${reading.reason}: ${reading.message}`)
  return reading
}

const withPayload = (changes: Readonly<Record<string, unknown>>) => ({
  ...bodyV2,
  paymentPayload: { ...bodyV2.paymentPayload, ...changes },
})
const withAccepted = (changes: Readonly<Record<string, unknown>>) =>
  withPayload({ accepted: { ...requirements, ...changes } })
const withRequirements = (changes: Readonly<Record<string, unknown>>) => ({
  ...bodyV2,
  paymentRequirements: { ...requirements, ...changes },
})

const canonical = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: 10_000n,
  minAmount: null,
  asset,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}

describe('the three shapes', () => {
  it('version 2 is read unchanged', () => {
    expect(readable(bodyV2)).toEqual({
      version: 2,
      callerNetwork: 'eip155:84532',
      requirements: canonical,
      proof,
      resource: 'https://merchant.example/report',
      settleAmount: null,
      acceptedAmount: 10_000n,
      usageDetails: null,
      ...withoutExtensions,
      resourceDetails: bodyV2.paymentPayload.resource,
    })
  })

  it("version 1 becomes the same payment, and keeps the caller's network name", () => {
    expect(readable(bodyV1)).toEqual({
      ...readable(bodyV2),
      acceptedAmount: null,
      version: 1,
      callerNetwork: 'base-sepolia',
      resourceDetails: { description: 'A report', mimeType: 'application/json' },
    })
  })

  it('the flat shape becomes the same payment: nested, with numbers as decimal strings', () => {
    expect(readable(bodyFlat)).toEqual({
      ...readable(bodyV2),
      acceptedAmount: null,
      resource: null,
      resourceDetails: {},
    })
  })

  it('version 1 is read with the CAIP-2 identifier, and version 2 with the short name', () => {
    const named = { network: 'base-sepolia' }
    const longV1 = {
      paymentPayload: { ...bodyV1.paymentPayload, network: 'eip155:84532' },
      paymentRequirements: requirementsV1,
    }
    const shortV2 = {
      paymentPayload: { ...bodyV2.paymentPayload, accepted: { ...requirements, ...named } },
      paymentRequirements: { ...requirements, ...named },
    }
    expect(readable(longV1)).toMatchObject({ requirements: canonical, callerNetwork: 'base-sepolia' })
    expect(readable(shortV2)).toMatchObject({ requirements: canonical, callerNetwork: 'base-sepolia' })
  })

  it.each(['amount', 'maxAmountRequired', 'maxAmount'])(
    'the amount may be called %s on either side',
    (name) => {
      const { amount, ...rest } = requirements
      const renamed = { ...rest, [name]: amount }
      expect(readable({ ...bodyV2, paymentRequirements: renamed }).requirements.amount).toBe(10_000n)
      expect(readable(withPayload({ accepted: renamed })).requirements.amount).toBe(10_000n)
    },
  )

  it('an amount may be a number, on either side', () => {
    expect(readable(withRequirements({ amount: 10_000 })).requirements.amount).toBe(10_000n)
    expect(readable(withAccepted({ amount: 10_000 })).requirements.amount).toBe(10_000n)
  })

  it('version 1 without maxTimeoutSeconds gets the recommended value', () => {
    const { maxTimeoutSeconds: _omitted, ...rest } = requirementsV1
    expect(readable({ ...bodyV1, paymentRequirements: rest }).requirements.maxTimeoutSeconds).toBe(300)
  })

  it.each([undefined, null])('an extra of %s becomes an empty object', (extra) => {
    expect(readable(withRequirements({ extra })).requirements.extra).toEqual({})
  })

  it('a proof of another form is unchanged', () => {
    for (const payload of [
      { txHash: '0x1', from: 'alice.near', to: 'bob.near', amount: '1' },
      { signature: { v: 27, r: '0x1', s: '0x2' }, authorization: { owner: 'x' }, paymentNonce: '0x3' },
      { transaction: 'AQAB' },
      {},
    ]) {
      expect(readable(withPayload({ payload })).proof).toEqual(payload)
    }
  })

  it('a flat number that is not a safe integer is left for the scheme to refuse', () => {
    const payload = { ...bodyFlat.paymentPayload.payload, validBefore: 1e21 }
    const { proof } = readable({ ...bodyFlat, paymentPayload: { ...bodyFlat.paymentPayload, payload } })
    expect(proof).toMatchObject({ authorization: { validBefore: 1e21 } })
  })

  it('a flat proof beside a nested one does not replace it', () => {
    const payload = { ...proof, from: payTo, nonce: '0x00' }
    expect(readable(withPayload({ payload })).proof.authorization).toEqual(authorization)
  })

  it('unknown fields are ignored', () => {
    const extended = {
      ...bodyV2,
      paymentPayload: { ...bodyV2.paymentPayload, note: 1 },
      paymentRequirements: { ...requirements, extensions: null, tags: ['a'] },
      traceId: 'x',
    }
    expect(readable(extended)).toEqual(readable(bodyV2))
  })
})

describe('settleAmount', () => {
  const usage = { unitsConsumed: 1.5, unitPrice: '70', unitType: 'minute', startTime: 1, endTime: 91 }

  it('is read from the body, with minAmount and usageDetails', () => {
    const body = { ...withRequirements({ minAmount: '10' }), settleAmount: '7000', usageDetails: usage }
    expect(readable(body)).toEqual({
      ...readable(bodyV2),
      requirements: { ...canonical, minAmount: 10n },
      settleAmount: 7_000n,
      usageDetails: usage,
    })
  })

  it.each([
    ['0', 0n],
    [0, 0n],
    ['007', 7n],
    [String(2n ** 256n - 1n), 2n ** 256n - 1n],
  ])('may be %j', (settleAmount, expected) => {
    expect(readable({ ...bodyV2, settleAmount }).settleAmount).toBe(expected)
  })

  it('is read in every shape and version', () => {
    for (const body of [bodyV1, bodyFlat]) {
      expect(readable({ ...body, settleAmount: 1 })).toEqual({ ...readable(body), settleAmount: 1n })
    }
  })

  it('is never read from the payload, and neither is minAmount', () => {
    const changes = { settleAmount: '1', accepted: { ...requirements, minAmount: '1', settleAmount: '1' } }
    expect(readable(withPayload(changes))).toEqual(readable(bodyV2))
  })

  it.each([null, undefined])('has no usage details if usageDetails is %s', (usageDetails) => {
    expect(readable({ ...bodyV2, usageDetails }).usageDetails).toBeNull()
  })
})

describe('the amount that the client accepted', () => {
  /** What an x402 server sends at settle: the payload as the client sent it, and the charge in the requirements. */
  const settling = (scheme: string, charge: string, accepted: Record<string, unknown> = {}) => ({
    paymentPayload: { ...bodyV2.paymentPayload, accepted: { ...requirements, scheme, ...accepted } },
    paymentRequirements: { ...requirements, scheme, amount: charge },
  })

  it('may exceed what is required under upto', () => {
    for (const charge of ['9999', '1', '0']) {
      expect(readable(settling('upto', charge))).toMatchObject({
        acceptedAmount: 10_000n,
        requirements: { amount: BigInt(charge) },
      })
    }
  })

  it('is read from maxAmount too', () => {
    const accepted = { amount: undefined, maxAmount: '10000' }
    expect(readable(settling('upto', '7', accepted)).acceptedAmount).toBe(10_000n)
  })

  it.each([
    ['is lower than what is required under upto', settling('upto', '10001')],
    ['exceeds what is required under exact', settling('exact', '9999')],
    ['has two values', settling('upto', '7', { maxAmount: '20000' })],
    ['is missing', settling('upto', '7', { amount: undefined })],
    ['is not a number', settling('upto', '7', { amount: '-7' })],
    ['is hexadecimal', settling('upto', '7', { amount: '0x10' })],
  ])('that %s is a mismatch', (_name, body) => {
    expect(read(body)).toMatchObject({
      reason: 'accepted_requirements_mismatch',
      message: 'paymentPayload.accepted.amount differs from the requirements',
    })
  })
})

describe('a charge above the maximum that the client accepted', () => {
  const charging = (payload: object, more: object = {}) => {
    const accepted = { ...requirements, scheme: 'upto' }
    return {
      paymentPayload: { ...bodyV2.paymentPayload, accepted, payload },
      paymentRequirements: { ...accepted, amount: '10001' },
      ...more,
    }
  }
  const permit2 = { signature: '0x', permit2Authorization: {} }
  const mismatch = 'accepted_requirements_mismatch'

  it('has a reason of its own when x402 settles it', () => {
    const reason = 'invalid_upto_evm_payload_settlement_exceeds_amount'
    expect(read(charging(permit2), { isForSettle: true })).toEqual({ callerNetwork: 'eip155:84532', reason })
  })

  it.each([
    ['when it is verified', permit2, {}, false],
    ['beside settleAmount, as it is the maximum of the server', permit2, { settleAmount: '7' }, true],
    ['of a permit, whose requirements have the maximum', { signature: '0x', authorization: {} }, {}, true],
  ])('is a mismatch %s', (_name, payload, more, isForSettle) => {
    expect(read(charging(payload, more), { isForSettle })).toMatchObject({ reason: mismatch })
  })
})

describe('upto', () => {
  const terms = { ...requirements, scheme: 'upto' }
  const { accepted: _, x402Version: __, ...rest } = { x402Version: 0, ...bodyV2.paymentPayload }

  it('is unsupported_scheme under version 1', () => {
    const paymentPayload = { ...rest, x402Version: 1, scheme: 'upto', network: requirements.network }
    expect(read({ paymentPayload, paymentRequirements: terms })).toMatchObject({
      reason: 'unsupported_scheme',
      message: 'upto: belongs to version 2 of the protocol',
    })
  })

  it('is of version 2 where no version is stated', () => {
    const paymentPayload = { ...rest, scheme: 'upto', network: requirements.network }
    expect(readable({ paymentPayload, paymentRequirements: terms }).version).toBe(2)
  })
})

describe('extensions', () => {
  it('come from the requirements, and for other keys from the payload', () => {
    const body = {
      ...withRequirements({ extensions: { bazaar: { info: 1 } } }),
      paymentPayload: {
        ...bodyV2.paymentPayload,
        extensions: { bazaar: { info: 2 }, siwx: {} },
      },
    }
    expect(readable(body).extensions).toEqual({ bazaar: { info: 1 }, siwx: {} })
    expect(readable(body)).toMatchObject({
      declaredExtensions: { bazaar: { info: 1 } },
      clientExtensions: { bazaar: { info: 2 }, siwx: {} },
    })
  })

  it('have what the client adds beside what the resource server declares, which it cannot change', () => {
    const declared = { info: { version: '1', a: 'shop' }, schema: {} }
    const sent = { info: { a: 'thief', signature: '0x' } }
    const body = {
      ...withRequirements({ extensions: { permit: declared } }),
      paymentPayload: { ...bodyV2.paymentPayload, extensions: { permit: sent } },
    }
    expect(readable(body).extensions).toEqual({
      permit: { info: { version: '1', a: 'shop', signature: '0x' }, schema: {} },
    })
  })

  it.each([null, 'bazaar', 7, ['bazaar']])('of the payload are ignored if they are %j', (extensions) => {
    expect(readable(withPayload({ extensions }))).toEqual(readable(bodyV2))
  })
})

describe('the resource', () => {
  it.each([
    ['an object', { url: 'https://a.example' }, 'https://a.example'],
    ['a string', 'https://a.example', 'https://a.example'],
    ['an object without a URL', { description: 'x' }, null],
    ['null', null, null],
    ['nothing', undefined, null],
  ])('may be %s', (_, resource, expected) => {
    expect(readable(withPayload({ resource })).resource).toBe(expected)
  })

  it('comes from the requirements if they have one', () => {
    const body = {
      ...withPayload({ resource: { url: 'https://payer.example' } }),
      paymentRequirements: { ...requirements, resource: 'https://server.example' },
    }
    expect(readable(body).resource).toBe('https://server.example')
  })
})

describe('the version', () => {
  const names = ['payVersion', 'x402Version', 't402Version']

  it.each(names)('is read from %s, in the body, in the payload or in both', (name) => {
    expect(readable({ ...bodyV2, [name]: 2 }).version).toBe(2)
    expect(readable(withPayload({ [name]: 2 })).version).toBe(2)
    expect(readable({ ...withPayload({ [name]: 2 }), [name]: 2 }).version).toBe(2)
    expect(readable({ ...bodyV1, [name]: 1 }).version).toBe(1)
  })

  it('may be given under all names at both levels', () => {
    const everywhere = { payVersion: 2, x402Version: 2, t402Version: 2 }
    expect(readable({ ...withPayload(everywhere), ...everywhere }).version).toBe(2)
  })

  it('is derived from the shape without a version field', () => {
    expect([bodyV1, bodyV2].map((body) => readable(body).version)).toEqual([1, 2])
  })

  it('is the stated one, even if the shape is of the other version', () => {
    expect(readable({ ...bodyV1, x402Version: 2 }).version).toBe(2)
    expect(readable({ ...bodyV2, x402Version: 1 }).version).toBe(1)
  })

  it.each([0, 3, -1, 2_147_483_648])('is refused if it is %d', (version) => {
    expect(read({ ...bodyV2, payVersion: version })).toEqual({
      callerNetwork: 'eip155:84532',
      reason: 'invalid_x402_version',
    })
  })

  it.each([
    ['the levels', { ...withPayload({ x402Version: 1 }), x402Version: 2 }],
    ['the names', { ...bodyV2, x402Version: 2, t402Version: 1 }],
    ['the levels and the names', { ...withPayload({ t402Version: 1 }), payVersion: 2 }],
  ])('is refused if %s disagree', (_, body) => {
    expect(read(body)).toEqual({
      callerNetwork: 'eip155:84532',
      reason: 'invalid_x402_version',
      message: 'payVersion, x402Version and t402Version do not agree',
    })
  })
})

describe('accepted', () => {
  it.each([
    ['amount', { amount: '9999' }],
    ['amount', { amount: '10001' }],
    ['amount', { amount: '0x2710' }],
    ['amount', { amount: ' 10000' }],
    ['amount', { amount: 10_000.5 }],
    ['amount', { amount: undefined }],
    ['amount', { amount: '9999', maxAmountRequired: '10000' }],
    ['asset', { asset: payTo }],
    ['asset', { asset: '' }],
    ['payTo', { payTo: asset }],
    ['payTo', { payTo: ` ${payTo}` }],
  ])('is refused if its %s differs: %j', (field, changes) => {
    expect(read(withAccepted(changes))).toEqual({
      callerNetwork: 'eip155:84532',
      reason: 'accepted_requirements_mismatch',
      message: `paymentPayload.accepted.${field} differs from the requirements`,
    })
  })

  it('may have hex addresses in another letter case', () => {
    const changes = { asset: asset.toLowerCase(), payTo: `0x${payTo.slice(2).toUpperCase()}` }
    expect(readable(withAccepted(changes)).requirements).toEqual(canonical)
  })

  it('must have other addresses in the same letter case: base58 is case-sensitive', () => {
    const base58 = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const body = {
      paymentPayload: {
        ...bodyV2.paymentPayload,
        accepted: { ...requirements, asset: base58.toLowerCase() },
      },
      paymentRequirements: { ...requirements, asset: base58 },
    }
    expect(read(body)).toMatchObject({ reason: 'accepted_requirements_mismatch' })
  })

  it('may name the asset bare where the requirements use CAIP-19, and the other way round', () => {
    const caip19 = `eip155:84532/erc20:${asset}`
    expect(readable(withAccepted({ asset: caip19 })).requirements).toEqual(canonical)
    const body = { ...bodyV2, paymentRequirements: { ...requirements, asset: caip19 } }
    expect(readable(body).requirements).toEqual(canonical)
  })

  it('never replaces the requirements', () => {
    const changes = { maxTimeoutSeconds: 9, extra: { name: 'Fake', version: '9' }, extensions: { a: 1 } }
    expect(readable(withAccepted(changes)).requirements).toEqual(canonical)
  })

  it.each([
    ['unsupported_scheme', { scheme: 'upto' }],
    ['unsupported_scheme', { scheme: 'Exact' }],
    ['unsupported_scheme', { scheme: '' }],
    ['network_mismatch', { network: 'eip155:8453' }],
    ['network_mismatch', { network: 'base' }],
    ['network_mismatch', { network: '' }],
    // Order of the specification: scheme, network, then the terms.
    ['unsupported_scheme', { scheme: 'upto', network: 'eip155:8453', amount: '1' }],
    ['network_mismatch', { network: 'eip155:8453', amount: '1' }],
  ])('is refused as %s for %j', (reason, changes) => {
    expect(read(withAccepted(changes))).toEqual({ callerNetwork: 'eip155:84532', reason })
  })

  it.each([
    ['unsupported_scheme', { scheme: 'upto' }],
    ['network_mismatch', { network: 'base' }],
  ])('is refused as %s in version 1 for %j', (reason, changes) => {
    const paymentPayload = { ...bodyV1.paymentPayload, ...changes }
    expect(read({ ...bodyV1, paymentPayload })).toEqual({ callerNetwork: 'base-sepolia', reason })
  })
})

describe('a malformed payload', () => {
  const tooLong = `https://merchant.example/${'a'.repeat(8_192)}`

  it.each([
    ['paymentPayload.payload', { payload: undefined }],
    ['paymentPayload.payload', { payload: null }],
    ['paymentPayload.payload', { payload: 'AQAB' }],
    ['paymentPayload.payload', { payload: [proof] }],
    ['paymentPayload.accepted', { accepted: 'exact' }],
    ['paymentPayload.accepted', { accepted: [] }],
    ['paymentPayload.accepted.scheme', { accepted: { ...requirements, scheme: undefined } }],
    ['paymentPayload.accepted.network', { accepted: { ...requirements, network: 84532 } }],
    ['paymentPayload.accepted.asset', { accepted: { ...requirements, asset: null } }],
    ['paymentPayload.accepted.payTo', { accepted: { ...requirements, payTo: {} } }],
    ['paymentPayload.accepted.amount', { accepted: { ...requirements, amount: true } }],
    ['paymentPayload.payVersion', { payVersion: '2' }],
    ['paymentPayload.x402Version', { x402Version: 1.5 }],
    ['paymentPayload.t402Version', { t402Version: null }],
    ['paymentPayload.resource', { resource: 7 }],
    ['paymentPayload.resource', { resource: { url: 7 } }],
    ['paymentPayload.resource.url', { resource: { url: tooLong } }],
    ['paymentPayload.resource', { resource: tooLong }],
    // Postgres rejects NUL: without this check, a payer could cause a 500 in /settle.
    ['paymentPayload.resource.url', { resource: { url: 'https://a.example/\0' } }],
    ['paymentPayload.scheme', { accepted: undefined }],
    ['paymentPayload.network', { accepted: undefined, scheme: 'exact' }],
    ['paymentPayload.scheme', { accepted: undefined, scheme: 7, network: 'base-sepolia' }],
    ['paymentPayload.network', { accepted: undefined, scheme: 'exact', network: 84532 }],
  ])('is refused with the name of the field: %s', (field, changes) => {
    const reading = read(withPayload(changes))
    expect(reading).toMatchObject({ callerNetwork: 'eip155:84532', reason: 'invalid_payload_structure' })
    expect('message' in reading ? reading.message : '').toMatch(new RegExp(`^${field}\\b(?!\\.)`))
  })

  it('is refused when it is empty', () => {
    expect(read({ ...bodyV2, paymentPayload: {} })).toMatchObject({ reason: 'invalid_payload_structure' })
  })
})

describe('any payload', () => {
  // Fields of real payloads, mostly with valid values, so that many cases pass the first checks.
  const mostly = (...values: readonly unknown[]) =>
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...values) }, fc.constant(undefined), fc.jsonValue())
  const accepted = fc.record({
    scheme: mostly('exact'),
    network: mostly('eip155:84532', 'base-sepolia', 'base'),
    amount: mostly('10000', 10_000, '1'),
    maxAmountRequired: mostly('10000', '1'),
    asset: mostly(asset, asset.toLowerCase(), payTo),
    payTo: mostly(payTo, payTo, asset),
    maxTimeoutSeconds: mostly(60, 1e9),
    extra: mostly(null, { name: 'Fake' }),
  })
  const shaped = fc.record({
    payVersion: mostly(undefined, 1, 2),
    x402Version: mostly(undefined, 2),
    scheme: mostly('exact', 'upto'),
    network: mostly('eip155:84532', 'base-sepolia'),
    accepted: fc.oneof(fc.constantFrom(undefined, requirements), accepted),
    payload: mostly(proof, bodyFlat.paymentPayload.payload, {}),
    resource: mostly('https://a.example', { url: 'https://a.example' }),
  })
  const payloads = fc.oneof(shaped, fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }))

  it('is read or refused, never throws, and never changes the requirements', () => {
    let readings = 0
    fc.assert(
      fc.property(
        payloads,
        fc.constantFrom(requirements, requirementsV1),
        (paymentPayload, paymentRequirements) => {
          const reading = read({ paymentPayload, paymentRequirements })
          expect(reading.callerNetwork).toBe(paymentRequirements.network)
          if (isRefused(reading)) return
          readings += 1
          expect(reading.requirements).toEqual(canonical)
        },
      ),
      { numRuns: 1_500 },
    )
    // Otherwise a reader that refuses everything would pass.
    expect(readings).toBeGreaterThan(100)
  })

  it('gives the same payment for any order of its keys', () => {
    const reversed = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, item]) => [key, reversed(item)]),
          )
        : value
    for (const body of [bodyV1, bodyV2, bodyFlat]) expect(read(reversed(body))).toEqual(read(body))
  })
})
