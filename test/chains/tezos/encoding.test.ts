import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readOperationHash, readTezosAddress, readTezosAsset } from '../../../src/chains/tezos/addresses.js'
import { decodeTransferParameter } from '../../../src/chains/tezos/octez.js'
import { encode, hashText } from '../../support/tezos/base58.js'
import { type Micheline, readTransfers } from '../../support/tezos/micheline.js'

const contract = 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o'
const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 })

/** With one other character, so that the checksum is wrong. */
const spoil = (text: string) => `${text.slice(0, 10)}${text[10] === 'z' ? 'y' : 'z'}${text.slice(11)}`

describe('a Tezos address', () => {
  it('is its own normal form, of accounts and contracts', () => {
    fc.assert(
      fc.property(fc.constantFrom('tz1', 'tz2', 'tz3', 'tz4', 'KT1'), bytes, (prefix, hash) => {
        const address = encode(prefix, hash)
        expect(readTezosAddress(address)).toBe(address)
        expect(readTezosAddress(spoil(address))).toBeNull()
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    '',
    'tz1',
    `${contract}%transfer`,
    ` ${contract}`,
    contract.toLowerCase(),
    `sr1${contract.slice(3)}`,
  ])('%j is none', (text) => {
    expect(readTezosAddress(text)).toBeNull()
  })
})

describe('an operation hash', () => {
  it('has a checksum', () => {
    const hash = hashText('operation', 'one')
    expect(readOperationHash(hash)).toBe(hash)
    expect(readOperationHash(spoil(hash))).toBeNull()
    expect(readOperationHash(`${hash}/x`)).toBeNull()
    expect(readOperationHash(hashText('block', 'one'))).toBeNull()
  })
})

describe('a Tezos asset', () => {
  it.each([
    [contract, `${contract}:0`],
    [`${contract}:0`, `${contract}:0`],
    [`${contract}/0`, `${contract}:0`],
    [`${contract}:17`, `${contract}:17`],
    [
      `${contract}/340282366920938463463374607431768211456`,
      `${contract}:340282366920938463463374607431768211456`,
    ],
  ])('%s is %s', (text, expected) => {
    expect(readTezosAsset(text)).toBe(expected)
  })

  it.each([
    `${contract}:`,
    `${contract}:00`,
    `${contract}:01`,
    `${contract}:-1`,
    `${contract}:1.0`,
    `${contract}:0:0`,
    `${spoil(contract)}:0`,
    'tz1burnburnburnburnburnburnburjAYjjX:0',
    `${contract}:${'9'.repeat(100)}`,
  ])('%s is none', (text) => {
    expect(readTezosAsset(text)).toBeNull()
  })
})

const address = fc
  .tuple(fc.constantFrom('tz1' as const, 'KT1' as const), bytes, fc.boolean())
  .map(([prefix, hash, isOptimised]): Micheline => {
    const hex = Buffer.from(hash).toString('hex')
    if (!isOptimised) return { string: encode(prefix, hash) }
    return { bytes: prefix === 'tz1' ? `0000${hex}` : `01${hex}00` }
  })

const natural = fc.bigInt({ min: 0n, max: 2n ** 128n }).map((value): Micheline => ({ int: String(value) }))

const transfer = fc
  .tuple(address, natural, natural, fc.constantFrom('nested', 'flat'))
  .map(
    ([to, id, amount, form]): Micheline =>
      form === 'flat'
        ? { prim: 'Pair', args: [to, id, amount] }
        : { prim: 'Pair', args: [to, { prim: 'Pair', args: [id, amount] }] },
  )

const parameter = fc.array(
  fc
    .tuple(address, fc.array(transfer, { maxLength: 4 }))
    .map(([from, transfers]): Micheline => ({ prim: 'Pair', args: [from, transfers] })),
  { maxLength: 4 },
)

describe('the parameter of transfer', () => {
  it('is decoded in all its forms as an independent decoder does', () => {
    fc.assert(
      fc.property(parameter, (value) => {
        const expected = readTransfers(value).flatMap(({ from, transfers }) =>
          transfers.map(({ to, tokenId, amount }) => ({ from, to, tokenId: String(tokenId), amount })),
        )
        expect(decodeTransferParameter(value)).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  it('of another type has no transfers, and never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const { amount } of decodeTransferParameter(value)) expect(amount).toBeGreaterThanOrEqual(0n)
      }),
    )
    expect(decodeTransferParameter(undefined)).toEqual([])
  })

  it('with a negative amount has no transfers', () => {
    const [from, to] = ['a', 'b'].map((name) => ({ string: hashText('KT1', name) }))
    const value = [
      { prim: 'Pair', args: [from, [{ prim: 'Pair', args: [to, { int: '0' }, { int: '-5' }] }]] },
    ]
    expect(decodeTransferParameter(value)).toEqual([])
  })

  it('that is nested too deeply has no transfers', () => {
    let value: unknown = { int: '0' }
    for (let depth = 0; depth < 100_000; depth++) value = { prim: 'Pair', args: [value] }
    expect(decodeTransferParameter(value)).toEqual([])
  })
})
