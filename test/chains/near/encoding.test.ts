import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAccountId, readBytes32, readHash } from '../../../src/chains/near/addresses.js'

describe('an account id', () => {
  it.each([
    'aa',
    'usdt.tether-token.near',
    'a_b-c.d.near',
    '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1',
    '0x1f4b1f4b1f4b1f4b1f4b1f4b1f4b1f4b1f4b1f4b',
  ])('is %s', (text) => {
    expect(readAccountId(text)).toBe(text)
  })

  it.each([
    '',
    'a',
    'a'.repeat(65),
    'Alice.near',
    '.near',
    'near.',
    'a..near',
    'a.-near',
    'a b',
    'ä.near',
    'a.near\n',
    'a/b',
    `${'a'.repeat(100_000)}.near`,
  ])('is not %j', (text) => {
    expect(readAccountId(text)).toBeNull()
  })
})

describe('a transaction hash', () => {
  it('is base58 of 32 bytes, in one spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = base58.encode(bytes)
        expect(readHash(text)).toBe(text)
        expect(readBytes32(text)).toEqual(bytes)
      }),
    )
  })

  it('is no other number of bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        fc.pre(bytes.length !== 32)
        expect(readHash(base58.encode(bytes))).toBeNull()
      }),
    )
  })

  it('is null for any other text, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const read = readHash(text)
        expect(read === null || read === text).toBe(true)
      }),
    )
    expect(readHash('0'.repeat(44))).toBeNull()
    expect(readHash('1'.repeat(1_000_000))).toBeNull()
  })
})
