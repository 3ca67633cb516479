import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRecipients } from '../../../src/extensions/bazaar/recipients.js'

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const terms = { scheme: 'exact', network: 'eip155:84532', payTo: '0xABCDEF', amount: '1' }
const expected = [{ network: 'eip155:84532', payTo: '0xabcdef' }]
const answer = (given: Partial<Parameters<typeof readRecipients>[0]>) => ({
  status: 402,
  paymentRequired: null,
  body: '',
  ...given,
})

describe('whom a 402 answer asks to be paid', () => {
  it.each([
    ['version 2, header', { paymentRequired: base64({ x402Version: 2, accepts: [terms] }), body: '<html>' }],
    [
      'version 2, header of a body that was not read',
      { paymentRequired: base64({ accepts: [terms] }), body: null },
    ],
    ['version 2, body', { body: JSON.stringify({ x402Version: 2, accepts: [terms] }) }],
    [
      'version 1, body',
      { body: JSON.stringify({ x402Version: 1, accepts: [{ ...terms, network: 'base-sepolia' }] }) },
    ],
    [
      'the body beside a header that is none',
      { paymentRequired: '!!!', body: JSON.stringify({ accepts: [terms] }) },
    ],
    [
      'terms beside broken ones',
      { body: JSON.stringify({ accepts: [1, null, {}, { payTo: '0x' }, terms] }) },
    ],
  ])('is read from %s', (_case, given) => {
    expect(readRecipients(answer(given))).toMatchObject({ recipients: expected, problem: null })
  })

  it('prefers the header, which proxies do not rewrite, to the body', () => {
    const other = JSON.stringify({ accepts: [{ ...terms, payTo: '0x1' }] })
    const given = answer({ paymentRequired: base64({ accepts: [terms] }), body: other })
    expect(readRecipients(given).recipients).toEqual(expected)
  })

  it.each([
    ['another status', { status: 200, body: JSON.stringify({ accepts: [terms] }) }, 'status 200, not 402'],
    ['a redirect', { status: 302 }, 'status 302, not 402'],
    ['no JSON', { body: '<html>' }, 'no `accepts`'],
    ['no accepts', { body: '{}' }, 'no `accepts`'],
    ['accepts that is no list', { body: '{"accepts":{}}' }, 'no `accepts`'],
    ['a body that was not read', { body: null }, 'larger than 64 kB'],
    ['an empty list', { body: '{"accepts":[]}' }, 'No `accepts`'],
    ['terms without payTo', { body: '{"accepts":[{"network":"base"}]}' }, 'No `accepts`'],
    ['deep nesting', { body: '['.repeat(60_000) }, 'no `accepts`'],
  ])('is unknown for %s', (_case, given, problem) => {
    const read = readRecipients(answer(given))
    expect(read).toEqual({ recipients: null, problem: expect.stringContaining(problem) })
  })

  it('reads 64 terms at most', () => {
    const accepts = Array.from({ length: 100 }, (_, index) => ({ ...terms, payTo: `0x${index}` }))
    expect(readRecipients(answer({ body: JSON.stringify({ accepts }) })).recipients).toHaveLength(64)
  })

  it('offers terms that can be listed, of both versions', () => {
    const whole = { ...terms, asset: '0xA', maxTimeoutSeconds: 60, extra: { name: 'USDC' } }
    const { amount: maxAmountRequired, ...first } = whole
    const broken = [
      { asset: undefined },
      { amount: 1 },
      { amount: '-1' },
      { amount: '9'.repeat(79) },
      { maxTimeoutSeconds: 1.5 },
      { scheme: 'x'.repeat(129) },
    ]
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)
    const accepts = [
      whole,
      { ...first, maxAmountRequired },
      { ...whole, extra: deep },
      { ...whole, extra: { a: 'x'.repeat(5_000) } },
      ...broken.map((each) => ({ ...whole, ...each })),
    ]
    // Its own spelling: nesting this deep would overflow what writes it.
    const text = JSON.stringify({
      accepts: accepts.map((each) => (each.extra === deep ? { ...each, extra: 0 } : each)),
    })
    const body = text.replace('"extra":0', `"extra":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)
    const read = readRecipients(answer({ body }))
    const offered = { ...whole, extra: whole.extra }
    expect(read).toMatchObject({
      offers: [offered, offered, { ...offered, extra: {} }, { ...offered, extra: {} }],
    })
  })

  it('never throws, and names only short texts', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, header) => {
        const given = answer({ paymentRequired: header, body: JSON.stringify({ accepts: [value] }) })
        for (const { payTo } of readRecipients(given).recipients ?? []) {
          expect(payTo.length).toBeLessThanOrEqual(128)
        }
      }),
    )
  })
})
