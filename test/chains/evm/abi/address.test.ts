import fc from 'fast-check'
import { getAddress, type Hex, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { isSameAddress, readAddress } from '../../../../src/chains/evm/abi/address.js'
import { keccak } from '../../../../src/chains/evm/abi/words.js'

const toHex = (array: Uint8Array): Hex => `0x${Buffer.from(array).toString('hex')}`
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

describe('readAddress', () => {
  it('returns the EIP-55 form for any letter case, also when cached', () => {
    fc.assert(
      fc.property(address, (text) => {
        const expected = getAddress(text)
        expect(readAddress(text)).toBe(expected)
        expect(readAddress(`0x${text.slice(2).toUpperCase()}`)).toBe(expected)
        expect(readAddress(expected)).toBe(expected)
      }),
    )
  })

  it.each([
    '',
    '0x',
    'vitalik.eth',
    `0x${'1'.repeat(39)}`,
    ` 0x${'1'.repeat(40)}`,
    `0X${'1'.repeat(40)}`,
    7,
    null,
  ])('refuses %j', (text) => expect(readAddress(text)).toBeNull())

  it('bounds its cache and stays correct', () => {
    for (let number = 0; number < 42_000; number++) readAddress(`0x${number.toString(16).padStart(40, '0')}`)
    const known = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
    expect(readAddress(known.toLowerCase())).toBe(known)
  })
})

describe('isSameAddress', () => {
  it('ignores letter case', () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        expect(isSameAddress(one, getAddress(one))).toBe(true)
        expect(isSameAddress(one, other)).toBe(one === other)
      }),
    )
  })
})

describe('keccak', () => {
  it('is Keccak-256 in repeated use', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_000 }), (array) => {
        expect(keccak(array)).toBe(keccak256(array))
      }),
    )
  })
})
