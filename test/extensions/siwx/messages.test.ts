import { createSIWxMessage } from '@x402/extensions/sign-in-with-x'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { findTypedData, writeT402Message, writeX402Message } from '../../../src/extensions/siwx/messages.js'
import { readProof } from '../../../src/extensions/siwx/proof.js'
import type { SignInFields } from '../../../src/protocol/siwx.js'
import { anyText } from '../../support/anyText.js'
import { signInFields, toProof } from '../../support/siwx.js'

const address = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const whole = signInFields({
  address,
  nonce: 'a1b2c3d4e5f6a7b8',
  statement: 'Sign in to read',
  notBefore: '2025-12-31T23:59:00.000Z',
  requestId: 'session-7',
})

const text = anyText({ minLength: 1, maxLength: 30 }).filter(
  (each) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(each),
)
const uri = fc.webUrl({ withQueryParameters: true }).filter((each) => !/\s/.test(each))
const time = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const fields: fc.Arbitrary<SignInFields> = fc.record({
  domain: fc.domain(),
  address: fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`)),
  // Texts that look like the lines that follow them.
  statement: fc.option(
    fc.oneof(text, fc.constantFrom('URI: https://evil.example', 'Resources:', '- x', 'Nonce: 1')),
  ),
  uri,
  version: fc.constant('1'),
  chainId: fc.constantFrom('eip155:1', 'eip155:8453', 'eip155:84532'),
  nonce: fc.stringMatching(/^[A-Za-z0-9]{8,20}$/),
  issuedAt: time,
  expirationTime: fc.option(time),
  notBefore: fc.option(time),
  requestId: fc.option(fc.oneof(text, fc.constant('Resources:'))),
  resources: fc.option(fc.array(uri, { minLength: 1, maxLength: 3 })),
})

/** What the grammar of EIP-4361 allows, which x402's client enforces. */
const plainFields = fc
  .record({
    each: fields,
    statement: fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ,.]{0,20}$/)),
    requestId: fc.option(fc.stringMatching(/^[A-Za-z0-9-]{1,20}$/)),
  })
  .map(({ each, ...given }): SignInFields => ({ ...each, ...given }))

describe('the message of t402', () => {
  it('names the chain in full, and has every line in order', () => {
    expect(writeT402Message(whole).split('\n')).toEqual([
      'api.example.com wants you to sign in with your eip155:8453 account:',
      address,
      '',
      'Sign in to read',
      '',
      'URI: https://api.example.com/premium',
      'Version: 1',
      'Chain ID: eip155:8453',
      'Nonce: a1b2c3d4e5f6a7b8',
      'Issued At: 2026-01-01T00:00:00.000Z',
      'Expiration Time: 2026-01-01T00:05:00.000Z',
      'Not Before: 2025-12-31T23:59:00.000Z',
      'Request ID: session-7',
      'Resources:',
      '- https://api.example.com/premium',
    ])
  })

  it('has one blank line without a statement, and no heading without resources', () => {
    const lines = writeT402Message({ ...whole, statement: null, resources: [] }).split('\n')
    expect(lines.slice(1, 4)).toEqual([address, '', 'URI: https://api.example.com/premium'])
    expect(lines).not.toContain('Resources:')
  })
})

describe('the message of x402', () => {
  it('is the text that @x402/extensions signs, for every combination of fields', () => {
    fc.assert(
      fc.property(plainFields, (each) => {
        const {
          address: _address,
          statement,
          expirationTime,
          notBefore,
          requestId,
          resources,
          ...required
        } = each
        const info = {
          ...required,
          type: 'eip191' as const,
          ...(statement === null ? {} : { statement }),
          ...(expirationTime === null ? {} : { expirationTime }),
          ...(notBefore === null ? {} : { notBefore }),
          ...(requestId === null ? {} : { requestId }),
          ...(resources === null ? {} : { resources: [...resources] }),
        }
        expect(writeX402Message(each)).toBe(createSIWxMessage(info, each.address))
      }),
    )
  })

  it('exists for EVM and Solana only', () => {
    expect(writeX402Message({ ...whole, chainId: 'stellar:pubnet' })).toBeNull()
    expect(writeX402Message({ ...whole, chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })).toContain(
      'with your Solana account:',
    )
  })
})

describe.each([
  ['t402', writeT402Message],
  ['x402', (each: SignInFields) => writeX402Message(each) ?? ''],
])('the text of %s', (_name, write) => {
  it('differs whenever a field differs', () => {
    fc.assert(
      fc.property(fields, fields, (left, right) => {
        if (JSON.stringify(left) === JSON.stringify(right)) return
        expect(write(left)).not.toBe(write(right))
      }),
    )
  })

  it('differs when exactly one field differs', () => {
    const keys = Object.keys(whole).filter(isField)
    fc.assert(
      fc.property(fields, fields, fc.constantFrom(...keys), (left, right, key) => {
        const mixed = { ...left, [key]: right[key] }
        if (JSON.stringify(left) === JSON.stringify(mixed)) return
        expect(write(mixed)).not.toBe(write(left))
      }),
    )
  })

  it('is what a reader of the proof would write again', () => {
    fc.assert(
      fc.property(fields, (each) => {
        const reading = readProof(toProof(each, '0x00'))
        expect('fields' in reading ? write(reading.fields) : reading).toBe(write(each))
      }),
    )
  })
})

describe('the typed data', () => {
  it('exists only where it holds every field', () => {
    expect(findTypedData(whole)).toBeNull()
    expect(findTypedData({ ...whole, requestId: null })).toBeNull()
    expect(findTypedData({ ...whole, requestId: null, notBefore: null })).toMatchObject({
      name: 'api.example.com',
      version: '1',
      chainId: 8453,
    })
    expect(findTypedData({ ...whole, requestId: null, notBefore: null, chainId: 'solana:x' })).toBeNull()
  })
})

const isField = (key: string): key is keyof SignInFields => key in whole
