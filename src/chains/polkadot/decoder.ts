import { Bytes, GenericCall, Metadata, TypeRegistry, Vec } from '@polkadot/types'
import type { Event, EventRecord } from '@polkadot/types/interfaces'
import { blake2AsHex } from '@polkadot/util-crypto'
import { setNewest } from '../../concurrency/boundedMap.js'
import type { Ask } from '../common/direct/node.js'
import type { AccountKey } from './addresses.js'
import { getMetadata, getRuntimeVersion, type RuntimeVersion } from './rpc.js'
import { createReadSigned, type ReadSigned } from './signedExtrinsic.js'

/** Decoders by runtime version. */
export interface Runtimes {
  /** Decodes for the runtime in the state of this block, which executed the blocks built on it. */
  getDecoder(ask: Ask, parentHash: string): Promise<Decoder>
}

// An upgrade has two versions in use.
const maxVersions = 3

/** Concurrent look-ups share one download of the metadata, and one decoding. */
export const createRuntimes = (): Runtimes => {
  const decoders = new Map<string, Promise<Decoder>>()

  const load = async (ask: Ask, parentHash: string, version: RuntimeVersion): Promise<Decoder> =>
    createDecoder(await getMetadata(ask, parentHash), version)

  return {
    getDecoder: async (ask, parentHash) => {
      const version = await getRuntimeVersion(ask, parentHash)
      const name = [version.specName, version.specVersion, version.transactionVersion].join('/')
      const known = decoders.get(name)
      if (known !== undefined) return await known
      const loading = load(ask, parentHash, version)
      setNewest(decoders, name, loading, maxVersions)
      loading.catch(() => decoders.delete(name))
      return await loading
    },
  }
}

/** What one extrinsic did, from the events of its block. */
export interface ExtrinsicEvents {
  /** Null: the runtime reported neither, which no block of a correct node does. */
  readonly outcome: 'success' | 'failure' | null
  /** Only the pallet `assets` counts: `foreignAssets` and `poolAssets` number their assets differently. */
  readonly transfers: readonly TokenTransfer[]
  readonly remarks: readonly Remark[]
}

interface TokenTransfer {
  readonly asset: string
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amount: bigint
}

interface Remark {
  readonly sender: AccountKey
  /** blake2b-256 of the remark. */
  readonly hash: string
}

/** Decodes blocks of one runtime version. */
export interface Decoder {
  readEvents(encoded: string, extrinsicIndex: number): ExtrinsicEvents
  /** The remark with this hash among the calls of an extrinsic; null without one. */
  findRemark(extrinsic: string, hash: string): string | null
  readonly readSigned: ReadSigned
}

/** Takes up to half a second without a pause, and 20 MB. */
export const createDecoder = (
  encodedMetadata: string,
  version: Pick<RuntimeVersion, 'specVersion' | 'transactionVersion'>,
): Decoder => {
  const registry = new TypeRegistry()
  const metadata = new Metadata(registry, asHex(encodedMetadata))
  registry.setMetadata(metadata, undefined, describeExtensions(metadata), true)

  return {
    readEvents: (encoded, extrinsicIndex) => {
      const records = registry.createType<Vec<EventRecord>>('Vec<EventRecord>', asHex(encoded))
      // Metadata of another runtime decodes to something else, seldom of the same length.
      if (records.encodedLength !== (encoded.length - 2) / 2)
        throw new Error('The events have another format')
      const events = records
        .filter(({ phase }) => phase.isApplyExtrinsic && phase.asApplyExtrinsic.eq(extrinsicIndex))
        .map(({ event }) => event)
      return {
        outcome: readOutcome(events),
        transfers: events.filter(isEvent('assets', 'Transferred')).map(readTransfer),
        remarks: events.filter(isEvent('system', 'Remarked')).map(readRemark),
      }
    },
    findRemark: (extrinsic, hash) => {
      const { method } = registry.createType('Extrinsic', asHex(extrinsic))
      const remark = listRemarks(method).find((bytes) => blake2AsHex(bytes, 256) === hash)
      return remark === undefined ? null : readText(remark)
    },
    readSigned: createReadSigned(registry, metadata, version),
  }
}

const asHex = (text: string): `0x${string}` => `0x${text.slice(2)}`

/** Types of the signed extensions from the metadata itself, so that new extensions are decoded too. */
const describeExtensions = ({ asLatest }: Metadata) =>
  Object.fromEntries(
    asLatest.extrinsic.transactionExtensions.map(({ identifier, type }, index) => [
      identifier.toString(),
      { extrinsic: { [`extension${index}`]: `Lookup${type.toNumber()}` }, payload: {} },
    ]),
  )

const isEvent = (section: string, method: string) => (event: Event) =>
  event.section === section && event.method === method

const readOutcome = (events: readonly Event[]): ExtrinsicEvents['outcome'] => {
  if (events.some(isEvent('system', 'ExtrinsicFailed'))) return 'failure'
  return events.some(isEvent('system', 'ExtrinsicSuccess')) ? 'success' : null
}

const readTransfer = (event: Event): TokenTransfer => ({
  asset: getField(event, 'assetId').toString(),
  from: toKey(getField(event, 'from')),
  to: toKey(getField(event, 'to')),
  amount: BigInt(getField(event, 'amount').toString()),
})

const readRemark = (event: Event): Remark => ({
  sender: toKey(getField(event, 'sender')),
  // The library renames `hash`, which its own types use.
  hash: getField(event, 'hash_').toHex(),
})

/** By name: a runtime that orders the fields differently must not pay the wrong account. */
const getField = ({ data, section, method }: Event, name: string) => {
  const field = data[data.names?.indexOf(name) ?? -1]
  if (field === undefined) throw new Error(`The event ${section}.${method} has no field ${name}`)
  return field
}

const keyLength = 32

const toKey = (field: { toU8a(): Uint8Array }): AccountKey => {
  const key = field.toU8a()
  if (key.length !== keyLength) throw new Error('An account of an event is no 32-byte key')
  return Buffer.from(key).toString('hex')
}

const batches = ['batch', 'batchAll', 'forceBatch']

/** The call itself, or the members of a batch; deeper calls carry no memo. */
const listRemarks = (call: {
  readonly section: string
  readonly method: string
  readonly args: readonly unknown[]
}) => {
  const [first] = call.args
  const members =
    call.section === 'utility' && batches.includes(call.method) && first instanceof Vec
      ? first.filter((member) => member instanceof GenericCall)
      : [call]
  return members
    .filter(({ section, method }) => section === 'system' && method === 'remarkWithEvent')
    .flatMap(({ args: [remark] }) => (remark instanceof Bytes ? [remark.toU8a(true)] : []))
}

const maxMemoBytes = 1_024

/** Null if it is no UTF-8, or longer than any memo. */
const readText = (bytes: Uint8Array): string | null => {
  if (bytes.length > maxMemoBytes) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
