import { encodeAddress } from '@polkadot/util-crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAccountKey, readAccountKey, readAssetId } from '../../../src/chains/polkadot/addresses.js'
import { hashExtrinsic, readBlockTime, readEra, readSigner } from '../../../src/chains/polkadot/extrinsic.js'

// Alice of every Substrate test network.
const key = 'd43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d'
const spellings = [
  '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
  '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
  'HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F',
]

describe('addresses', () => {
  it.each(spellings)('%s is the same key with another prefix', (address) => {
    expect(readAccountKey(address)).toBe(key)
  })

  it('may be short: zero bytes at the start take less room', () => {
    expect(readAccountKey('111111111111111111111111111111111HC1')).toBe('00'.repeat(32))
  })

  it('are written with the prefix of the network', () => {
    expect([42, 0, 2].map((prefix) => formatAccountKey(key, prefix))).toEqual(spellings)
  })

  it.each([
    ['a hexadecimal key', `0x${key}`],
    ['a wrong checksum', '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQZ'],
    ['an EVM address', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['a longer key', encodeAddress(new Uint8Array(33).fill(7), 0)],
    ['a longer text', `${spellings[0]}${spellings[0]}`],
    ['nothing', ''],
  ])('%s is none', (_, text) => {
    expect(readAccountKey(text)).toBeNull()
  })

  it('of any key and prefix are read back, and any text is read without an exception', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom(0, 2, 42, 100, 16_383),
        (bytes, prefix) => {
          expect(readAccountKey(encodeAddress(bytes, prefix))).toBe(Buffer.from(bytes).toString('hex'))
        },
      ),
    )
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => readAccountKey(text) === null))
  })
})

describe('asset ids', () => {
  it.each([
    ['1984', '1984'],
    [1984, '1984'],
    ['0', '0'],
    ['4294967295', '4294967295'],
  ])('%s is an id', (value, id) => {
    expect(readAssetId(value)).toBe(id)
  })

  it.each(['01984', '4294967296', '-1', '1e3', '19.84', ' 1984', '', 19.84, -1, 2 ** 53, null, {}, ['1984']])(
    '%j is none',
    (value) => {
      expect(readAssetId(value)).toBeNull()
    },
  )
})

describe('extrinsics', () => {
  const body = `8400${key}01${'00'.repeat(70)}`
  /** Length in bytes as SCALE's compact number of two bytes. */
  const signed = `0x${Buffer.from(Uint16Array.of(((body.length / 2) << 2) | 1).buffer).toString('hex')}${body}`

  it('name the account that signed', () => {
    expect(readSigner(signed)).toBe(key)
  })

  it.each([
    ['an inherent', `0x280403000b${'00'.repeat(6)}`],
    ['a signer that is no account id', signed.replace('8400', '8401')],
    ['another format', signed.replace('8400', '4500')],
    ['a cut one', signed.slice(0, 60)],
    ['an empty one', '0x'],
  ])('%s names none', (_, extrinsic) => {
    expect(readSigner(extrinsic)).toBeNull()
  })

  it('have the blake2b-256 of all bytes as their hash', () => {
    expect(hashExtrinsic('0x')).toBe('0x0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8')
  })

  it('of a block include its time', () => {
    const time = new Date('2026-11-22T22:00:00Z')
    const bytes = Buffer.alloc(6)
    bytes.writeUIntLE(time.getTime(), 0, 6)
    expect(readBlockTime([signed, `0x280403000b${bytes.toString('hex')}`])).toEqual(time)
    expect(readBlockTime([signed])).toBeNull()
  })

  it('of any bytes are read without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        const extrinsic = `0x${Buffer.from(bytes).toString('hex')}`
        expect([null, 64]).toContain(readSigner(extrinsic)?.length ?? null)
        readBlockTime([extrinsic])
      }),
    )
  })
})

describe('the era of an extrinsic', () => {
  it.each([
    // Vectors of `sp_runtime::generic::Era`.
    ['immortal', [0], 1_000_000, 0],
    ['64 blocks from 42 on', [5 + (42 % 16) * 16, 42 >> 4], 42, 42],
    ['64 blocks from 42 on, in its last block', [5 + (42 % 16) * 16, 42 >> 4], 105, 42],
    ['64 blocks from 42 on, in the next period', [5 + (42 % 16) * 16, 42 >> 4], 106, 106],
    ['32,768 blocks from 20,000 on', [14 + (2_500 % 16) * 16, 2_500 >> 4], 20_007, 20_000],
    ['65,536 blocks from 65,520 on', [15 + (4_095 % 16) * 16, 4_095 >> 4], 131_000, 65_520],
  ])('%s begins with its block', (_, bytes, block, start) => {
    expect(readEra(Uint8Array.from(bytes))?.findStart(block)).toBe(start)
  })

  it.each([
    ['no bytes', []],
    ['one byte of two', [5]],
    ['three bytes', [5, 0, 0]],
    ['a period below four blocks', [0x10, 0]],
    ['a phase beyond its period', [0xf1, 0xff]],
  ])('is none with %s', (_, bytes) => {
    expect(readEra(Uint8Array.from(bytes))).toBeNull()
  })
})
