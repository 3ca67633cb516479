import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getPrimaryStore, readAptosAddress } from '../../../src/chains/aptos/addresses.js'
import { primaryStoreOf } from '../../support/aptos/bytes.js'

const hexDigits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length })

describe('an Aptos address', () => {
  it.each([
    ['0x1', `0x${'1'.padStart(64, '0')}`],
    ['0xA', `0x${'a'.padStart(64, '0')}`],
    [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
    [`0x00${'ab'.repeat(31)}`, `0x00${'ab'.repeat(31)}`],
    [`0x${'ab'.repeat(31)}`, `0x00${'ab'.repeat(31)}`],
  ])('%s is read in long form', (text, expected) => {
    expect(readAptosAddress(text)).toBe(expected)
  })

  it.each([
    '',
    '0x',
    '1',
    `${'ab'.repeat(32)}`,
    `0x${'ab'.repeat(33)}`,
    '0xg',
    ' 0x1',
    '0x1\n',
    '0X1',
    '0x1/../2',
  ])('%j is none', (text) => {
    expect(readAptosAddress(text)).toBeNull()
  })

  it('has one normal form, whatever its spelling', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }).chain(hexDigits), (digits) => {
        const normal = readAptosAddress(`0x${digits}`)
        expect(normal).toMatch(/^0x[0-9a-f]{64}$/)
        expect(readAptosAddress(normal ?? '')).toBe(normal)
        expect(readAptosAddress(`0x${digits.toUpperCase()}`)).toBe(normal)
        expect(BigInt(normal ?? 0)).toBe(BigInt(`0x${digits}`))
      }),
    )
  })

  it('never throws for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        readAptosAddress(text)
      }),
    )
  })
})

describe('a primary store', () => {
  it('equals that of an independent implementation', () => {
    fc.assert(
      fc.property(hexDigits(64), hexDigits(64), (owner, asset) => {
        const [left = '', right = ''] = [owner, asset].map((digits) => `0x${digits.toLowerCase()}`)
        expect(getPrimaryStore(left, right)).toBe(primaryStoreOf(left, right))
      }),
      { numRuns: 50 },
    )
  })
})
