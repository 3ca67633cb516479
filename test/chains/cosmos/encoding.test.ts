import { sha256 } from '@noble/hashes/sha2'
import { bech32 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, readAddress, readDenom, readHash } from '../../../src/chains/cosmos/addresses.js'
import { computeRoot } from '../../../src/chains/cosmos/inclusionProof.js'
import { auntsOf, merkleRoot } from '../../support/cosmos/merkle.js'

const address = (length: number, prefix = 'noble') =>
  bech32.encode(prefix, bech32.toWords(new Uint8Array(length).fill(7)))

describe('an address', () => {
  it('has the prefix of the chain and 20 or 32 bytes', () => {
    for (const length of [20, 32]) expect(readAddress(address(length), 'noble')).toBe(address(length))
    for (const length of [0, 19, 21, 33]) expect(readAddress(address(length), 'noble')).toBeNull()
    expect(readAddress(address(20, 'cosmos'), 'noble')).toBeNull()
    expect(readAddress(address(20, 'noblevaloper'), 'noble')).toBeNull()
  })

  it('in upper case is the same account; in mixed case it is none', () => {
    const text = address(20)
    expect(readAddress(text.toUpperCase(), 'noble')).toBe(text)
    expect(readAddress(`N${text.slice(1)}`, 'noble')).toBeNull()
  })

  it('with a wrong character is none', () => {
    const text = address(20)
    const wrong = text.endsWith('q') ? 'p' : 'q'
    expect(readAddress(`${text.slice(0, -1)}${wrong}`, 'noble')).toBeNull()
  })

  it('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const text = formatAddress(bytes, 'noble')
        expect(readAddress(text, 'noble')).toBe(text)
      }),
    )
  })

  it('is null for any other text, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (text) => {
        expect(readAddress(text, 'noble')).toBeNull()
      }),
    )
    expect(readAddress(`noble1${'q'.repeat(1_000_000)}`, 'noble')).toBeNull()
  })
})

describe('a denomination', () => {
  it.each([
    'uusdc',
    'ibc/EF48E6B1A1A19F47ECAEA62F5670C37C0580E86A9E88498B7E393EB6F49F33C0',
    'factory/noble1q/usdn',
  ])('is %s', (text) => expect(readDenom(text)).toBe(text))
  it.each(['', 'us', '1usdc', 'u usdc', 'uusdc,', 'u'.repeat(129), 'uusdc\n'])('is not %j', (text) =>
    expect(readDenom(text)).toBeNull(),
  )
})

describe('a transaction hash', () => {
  it('is 32 bytes in hex, in any case and with 0x; one upper-case text for all', () => {
    const hash = 'AB'.repeat(32)
    for (const text of [hash, hash.toLowerCase(), `0x${hash}`]) expect(readHash(text)).toBe(hash)
    for (const text of ['', hash.slice(1), `${hash}A`, `0X${hash}`, 'G'.repeat(64), `${hash}\n`]) {
      expect(readHash(text)).toBeNull()
    }
  })
})

describe('the root of an inclusion proof', () => {
  const leaves = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 40 })

  it('is the root of the tree, for each leaf of a tree of any size', () => {
    fc.assert(
      fc.property(leaves, (each) => {
        for (const [index, leaf] of each.entries()) {
          const root = computeRoot(leaf, { index, total: each.length, aunts: auntsOf(each, index) })
          expect(root === null ? null : Uint8Array.from(root)).toEqual(merkleRoot(each))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('is another one for another leaf, place, size or aunt', () => {
    const each = Array.from({ length: 7 }, (_, index) => sha256(Uint8Array.of(index)))
    const proof = { index: 3, total: 7, aunts: auntsOf(each, 3) }
    const root = Buffer.from(merkleRoot(each))
    const [leaf = new Uint8Array(), other = new Uint8Array()] = [each[3], each[4]]
    expect(computeRoot(leaf, proof)).toEqual(root)
    for (const found of [
      computeRoot(other, proof),
      computeRoot(leaf, { ...proof, index: 2 }),
      computeRoot(leaf, { ...proof, total: 3 }),
      computeRoot(leaf, { ...proof, aunts: proof.aunts.toReversed() }),
      computeRoot(leaf, { ...proof, aunts: proof.aunts.slice(1) }),
    ]) {
      expect(found?.equals(root) ?? false).toBe(false)
    }
    // An inner node is no leaf: its prefix differs.
    expect(computeRoot(sha256(leaf), { index: 0, total: 1, aunts: [] })?.equals(root)).toBe(false)
  })

  it('is null for what cannot be a proof, and never throws', () => {
    const proof = fc.record({
      index: fc.oneof(fc.integer(), fc.double()),
      total: fc.oneof(fc.integer(), fc.double(), fc.constant(Number.MAX_SAFE_INTEGER)),
      aunts: fc.array(fc.uint8Array({ maxLength: 33 }), { maxLength: 40 }),
    })
    fc.assert(
      fc.property(fc.uint8Array(), proof, (leaf, each) => {
        const root = computeRoot(leaf, each)
        expect(root === null || root.length === 32).toBe(true)
      }),
    )
  })
})
