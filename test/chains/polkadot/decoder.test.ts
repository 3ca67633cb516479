import { Metadata, TypeRegistry } from '@polkadot/types'
import { expandMetadata } from '@polkadot/types/metadata'
import { blake2AsHex, cryptoWaitReady } from '@polkadot/util-crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readAccountKey } from '../../../src/chains/polkadot/addresses.js'
import { createDecoder, type Decoder } from '../../../src/chains/polkadot/decoder.js'
import { readSigner } from '../../../src/chains/polkadot/extrinsic.js'
import { createKey, type KeyType, type PolkadotKey } from '../../support/polkadot/keys.js'

/** With the recorded metadata of Polkadot Asset Hub 2.0, whose extrinsics have other extensions than the test chain's. */

const version = { specVersion: 1, transactionVersion: 1 }
const recorded = z.object({ default: z.string() })
const alice = 'd43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d'
const bob = '8eaf04151687736326c9fea17e25fc5287613693c912909cb226aa4794f26a48'

let metadata: `0x${string}`
let decoder: Decoder
let registry: TypeRegistry
let events: { readonly [name: string]: string }
let decorated: ReturnType<typeof expandMetadata>

beforeAll(async () => {
  await cryptoWaitReady()
  const module: unknown = await import('@polkadot/types-support/metadata/v15/asset-hub-polkadot-hex')
  const text = recorded.parse(module).default
  // The recording is of `Metadata_metadata_at_version`, which wraps it.
  metadata = `0x${text.slice(text.indexOf('6d657461'))}`
  decoder = createDecoder(metadata, version)
  registry = new TypeRegistry()
  const decodedMetadata = new Metadata(registry, metadata)
  registry.setMetadata(decodedMetadata, undefined, undefined, true)
  decorated = expandMetadata(registry, decodedMetadata)
  events = Object.fromEntries(
    decodedMetadata.asLatest.pallets.flatMap(({ name, index, events: found }) => {
      if (found.isNone) return []
      const variants = registry.lookup.getSiType(found.unwrap().type).def.asVariant.variants
      return variants.map((variant) => [
        `${name}.${variant.name}`,
        Buffer.from([index.toNumber(), variant.index.toNumber()]).toString('hex'),
      ])
    }),
  )
})

/** SCALE by hand. */
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes.toString('hex')
}
const u128 = (value: bigint) =>
  Buffer.from(value.toString(16).padStart(32, '0'), 'hex').reverse().toString('hex')
const record = (index: number, event: string, data: string) => `00${u32(index)}${events[event]}${data}00`
const encode = (records: readonly string[]) =>
  `0x${Buffer.from([records.length << 2]).toString('hex')}${records.join('')}`

const success = (index: number) => {
  // DispatchInfo: weight of two compact numbers, class, paysFee.
  return record(index, 'System.ExtrinsicSuccess', '00000000')
}
const transferred = (index: number, asset = 1984) =>
  record(index, 'Assets.Transferred', `${u32(asset)}${alice}${bob}${u128(1_000_000n)}`)

describe('events of today', () => {
  it('are read for one extrinsic of the block', () => {
    const encoded = encode([success(0), transferred(2), success(2), transferred(3, 1337), success(3)])
    expect(decoder.readEvents(encoded, 2)).toEqual({
      outcome: 'success',
      transfers: [{ asset: '1984', from: alice, to: bob, amount: 1_000_000n }],
      remarks: [],
    })
    expect(decoder.readEvents(encoded, 3).transfers).toMatchObject([{ asset: '1337' }])
    expect(decoder.readEvents(encoded, 4)).toEqual({ outcome: null, transfers: [], remarks: [] })
  })

  it('of the pallet PoolAssets are no transfers of an asset with the same number', () => {
    const pool = record(2, 'PoolAssets.Transferred', `${u32(1984)}${alice}${bob}${u128(1_000_000n)}`)
    expect(decoder.readEvents(encode([pool, success(2)]), 2).transfers).toEqual([])
  })

  it.each([
    ['that end early', (encoded: string) => encoded.slice(0, -4)],
    ['with bytes behind them', (encoded: string) => `${encoded}00`],
    [
      'of a pallet that does not exist',
      (encoded: string) => encoded.replace(events['Assets.Transferred'] ?? '', 'fefe'),
    ],
  ])('%s are an error, never nothing', (_, spoil) => {
    expect(() => decoder.readEvents(spoil(encode([transferred(2), success(2)])), 2)).toThrow()
  })
})

describe('extrinsics of today', () => {
  const hashes = { genesisHash: `0x${'11'.repeat(32)}`, eraHash: `0x${'22'.repeat(32)}` }
  const build = (method: Uint8Array) => {
    const call = registry.createType('Call', method)
    return registry.createType('Extrinsic', { method: call }, { version: 4 })
  }
  const describeSigning = (more: object) => ({
    blockHash: hashes.eraHash,
    genesisHash: hashes.genesisHash,
    era: '0x2503',
    nonce: 1,
    runtimeVersion: version,
    signedExtensions: registry.signedExtensions,
    ...more,
  })
  const sign = (method: Uint8Array): string => {
    const extrinsic = build(method)
    return Reflect.apply(extrinsic.signFake, extrinsic, [`0x${alice}`, describeSigning({})]).toHex()
  }
  const signAs = (key: PolkadotKey, method: Uint8Array, more: object = {}): string => {
    const extrinsic = build(method)
    return Reflect.apply(extrinsic.sign, extrinsic, [key, describeSigning(more)]).toHex()
  }
  const text = 'order-77'
  const hash = blake2AsHex(Buffer.from(text), 256)
  const findCall = (section: string, method: string) => {
    const call = decorated.tx[section]?.[method]
    if (call === undefined) throw new Error(`There is no call ${section}.${method}`)
    return call
  }
  const remark = () => findCall('system', 'remarkWithEvent')(text)

  it('name their signer', () => {
    expect(readSigner(sign(remark().toU8a()))).toBe(alice)
  })

  it('give the text whose hash an event has, alone and in a batch', () => {
    const batch = findCall(
      'utility',
      'batchAll',
    )([findCall('assets', 'transferKeepAlive')(1984, { Id: `0x${bob}` }, 1_000_000n), remark()])
    expect(decoder.findRemark(sign(remark().toU8a()), hash)).toBe(text)
    expect(decoder.findRemark(sign(batch.toU8a()), hash)).toBe(text)
    expect(decoder.findRemark(sign(batch.toU8a()), `0x${'00'.repeat(32)}`)).toBeNull()
  })

  it('of which the remark is no UTF-8, or longer than a memo, give none', () => {
    for (const bytes of [Buffer.from('ff', 'hex'), Buffer.alloc(1_025, 'a')]) {
      const call = findCall('system', 'remarkWithEvent')(`0x${bytes.toString('hex')}`)
      expect(decoder.findRemark(sign(call.toU8a()), blake2AsHex(bytes, 256))).toBeNull()
    }
  })

  const pay = () => findCall('assets', 'transferKeepAlive')(1984, { Id: `0x${bob}` }, 1_000_000n)
  const keyOf = ({ address }: PolkadotKey) => readAccountKey(address) ?? ''
  const order = { asset: '1984', to: bob, amount: 1_000_000n }

  it.each<KeyType>(['sr25519', 'ed25519', 'ecdsa'])('are signed by their %s signer', (type) => {
    const key = createKey(type)
    const calls = [pay(), findCall('utility', 'batchAll')(Array(10).fill(pay()))]
    const extras = [
      {},
      { tip: 7 },
      { era: '0x00' },
      { assetId: { parents: 0, interior: 'Here' }, tip: 1_000_000 },
    ]
    for (const call of calls) {
      for (const extra of extras) {
        const signed = decoder.readSigned(signAs(key, call.toU8a(), extra))
        expect(signed?.isSignedBy(keyOf(key), hashes)).toBe(true)
        expect(signed?.isSignedBy(alice, hashes)).toBe(false)
        expect(signed?.isSignedBy(keyOf(key), { ...hashes, eraHash: hashes.genesisHash })).toBe(false)
        expect(signed?.isSignedBy(keyOf(key), { ...hashes, genesisHash: hashes.eraHash })).toBe(false)
      }
    }
  })

  it.each([
    ['the version of the runtime', { specVersion: 2, transactionVersion: 1 }],
    ['the version of its transactions', { specVersion: 1, transactionVersion: 2 }],
  ])('bind %s', (_, runtimeVersion) => {
    const key = createKey()
    const signed = decoder.readSigned(signAs(key, pay().toU8a(), { runtimeVersion }))
    expect(signed?.isSignedBy(keyOf(key), hashes)).toBe(false)
  })

  it('order the transfers of their own call and of its batches', () => {
    const key = createKey()
    const listOrders = (call: { toU8a(): Uint8Array }) =>
      decoder.readSigned(signAs(key, call.toU8a()))?.orders
    const batch = (members: readonly unknown[]) => findCall('utility', 'batch')(members)
    expect(listOrders(pay())).toEqual([order])
    expect(listOrders(batch([pay(), remark(), batch([pay()])]))).toEqual([order, order])
    expect(listOrders(findCall('proxy', 'proxy')({ Id: `0x${bob}` }, null, pay()))).toEqual([])
    expect(listOrders(findCall('poolAssets', 'transfer')(1984, { Id: `0x${bob}` }, 1n))).toEqual([])
    expect(listOrders(findCall('assets', 'transfer')(1984, { Index: 7 }, 1n))).toEqual([])
    expect(listOrders(findCall('assets', 'transfer')(1984, { Address32: `0x${bob}` }, 1n))).toEqual([])
  })

  it('of which the signature binds a hash of the metadata cannot be verified', () => {
    const metadataHash = `0x${'33'.repeat(32)}`
    const extrinsic = signAs(createKey(), pay().toU8a(), { mode: 1, metadataHash })
    expect(decoder.readSigned(extrinsic)).toBeNull()
  })

  it.each([
    ['a signature of another kind', (hex: string) => hex.replace(/^(0x....84[0-9a-f]{66})../, '$103')],
    ['an era that is none', (hex: string) => hex.replace('2503', '1000')],
    ['a call that does not exist', (hex: string) => `${hex.slice(0, -80)}${'fe'.repeat(40)}`],
    ['no end', (hex: string) => hex.slice(0, 80)],
  ])('with %s cannot be verified', (_, spoil) => {
    const genuine = signAs(createKey('ed25519'), pay().toU8a())
    expect(decoder.readSigned(genuine)).not.toBeNull()
    expect(decoder.readSigned(spoil(genuine))).toBeNull()
  })

  it('cannot be verified if nothing that they sign binds the network', () => {
    const hexOf = (text: string) => Buffer.from(text).toString('hex')
    // The types of an extension stand between its name and the length of the next one's.
    const [, nothing = ''] =
      new RegExp(`${hexOf('CheckNonZeroSender')}([0-9a-f]{2,20}?)40${hexOf('CheckSpecVersion')}`).exec(
        metadata,
      ) ?? []
    const genesis = new RegExp(`${hexOf('CheckGenesis')}[0-9a-f]{2,20}?(38${hexOf('CheckMortality')})`)
    expect(metadata).toMatch(genesis)
    const unbound = metadata.replace(genesis, `${hexOf('CheckNothing')}${nothing}$1`)
    const extrinsic = signAs(createKey(), pay().toU8a())
    expect(createDecoder(metadata, version).readSigned(extrinsic)).not.toBeNull()
    expect(createDecoder(unbound, version).readSigned(extrinsic)).toBeNull()
  })
})
