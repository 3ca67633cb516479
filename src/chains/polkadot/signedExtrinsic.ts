import { GenericCall, type Metadata, type TypeRegistry, Vec } from '@polkadot/types'
import { blake2AsU8a } from '@polkadot/util-crypto'
import type { AccountKey } from './addresses.js'
import { type Era, readEra, readSignature } from './extrinsic.js'
import type { RuntimeVersion } from './rpc.js'
import { isValidSignature } from './signature.js'

/** An extrinsic as its signer signed it. */
export interface SignedExtrinsic {
  readonly era: Era
  isSignedBy(signer: AccountKey, hashes: SignedHashes): boolean
  /** Transfers of the pallet `assets` that the signer's own call orders, alone or in batches. */
  readonly orders: readonly OrderedTransfer[]
}

/** Hashes of blocks, which the signature binds and the extrinsic does not contain. */
export interface SignedHashes {
  readonly genesisHash: string
  /** It is the hash of the block in which the era begins; for an immortal extrinsic that of the genesis block. */
  readonly eraHash: string
}

export interface OrderedTransfer {
  readonly asset: string
  readonly to: AccountKey
  readonly amount: bigint
}

/** Null if what was signed is not known: another kind of signature, or an extension that signs what is not known here. */
export type ReadSigned = (extrinsic: string) => SignedExtrinsic | null

/** A byte of the extension's mode: no hash of the metadata is signed. */
const withoutMetadataHash = 0

interface Extension {
  readonly name: string
  readonly valueType: `Lookup${number}`
  /** Bytes that are signed beside the call and the values of the extensions. */
  readonly signedLength: number
}

/**
 * Without these a signature binds neither the network nor the runtime, and the signature of a text could count as one of an
 * extrinsic.
 */
const required = ['CheckGenesis', 'CheckSpecVersion', 'CheckTxVersion', 'CheckMortality']

/** The name before 2021. */
const synonyms: ReadonlyMap<string, string> = new Map([['CheckEra', 'CheckMortality']])

// Decoding takes time by the length of a call. Batches of payments are far smaller.
const maxCallBytes = 65_536
const longestUnhashed = 256

export const createReadSigned = (
  registry: TypeRegistry,
  metadata: Metadata,
  { specVersion, transactionVersion }: Pick<RuntimeVersion, 'specVersion' | 'transactionVersion'>,
): ReadSigned => {
  const extensions = listExtensions(registry, metadata)
  const isComplete = required.every((name) => extensions.some((extension) => extension.name === name))

  /** What the extension signs beside its value; null if it is not known. */
  const sign = ({ name, signedLength }: Extension, value: Uint8Array): SignedPart | null => {
    switch (name) {
      case 'CheckSpecVersion':
        return signedLength === 4 ? () => writeU32(specVersion) : null
      case 'CheckTxVersion':
        return signedLength === 4 ? () => writeU32(transactionVersion) : null
      case 'CheckGenesis':
        return signedLength === hashLength ? ({ genesisHash }) => readHash(genesisHash) : null
      case 'CheckMortality':
        return signedLength === hashLength ? ({ eraHash }) => readHash(eraHash) : null
      case 'CheckMetadataHash':
        // `None`. The hash itself is a Merkle root of the metadata, which no node states.
        return value.length === 1 && value[0] === withoutMetadataHash ? () => Buffer.from([0]) : null
      default:
        return signedLength === 0 ? () => Buffer.alloc(0) : null
    }
  }

  const split = (rest: Buffer) => {
    let offset = 0
    const values = extensions.map((extension) => {
      const { encodedLength } = registry.createType(extension.valueType, rest.subarray(offset))
      const value = rest.subarray(offset, offset + encodedLength)
      offset += encodedLength
      return { extension, value }
    })
    return { values, written: rest.subarray(0, offset), call: rest.subarray(offset) }
  }

  const read: ReadSigned = (extrinsic) => {
    const signature = readSignature(extrinsic)
    if (signature === null || !isComplete) return null
    const { values, written, call } = split(signature.rest)
    const parts = values.map(({ extension, value }) => sign(extension, value))
    const era = readEra(values.find(({ extension }) => extension.name === 'CheckMortality')?.value)
    if (era === null || parts.includes(null)) return null
    return {
      era,
      isSignedBy: (signer, hashes) => {
        const payload = Buffer.concat([
          call,
          written,
          ...parts.map((part) => part?.(hashes) ?? Buffer.alloc(0)),
        ])
        return isValidSignature({
          ...signature,
          message: payload.length > longestUnhashed ? blake2AsU8a(payload, 256) : payload,
          accountKey: Buffer.from(signer, 'hex'),
        })
      },
      orders: call.length > maxCallBytes ? [] : listOrders(registry.createType('Call', call)),
    }
  }

  return (extrinsic) => {
    try {
      return read(extrinsic)
    } catch {
      // The metadata describes other extensions, or another call.
      return null
    }
  }
}

type SignedPart = (hashes: SignedHashes) => Buffer

const hashLength = 32

const readHash = (hash: string): Buffer => Buffer.from(hash.slice(2), 'hex')

const writeU32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const listExtensions = (registry: TypeRegistry, metadata: Metadata): readonly Extension[] => {
  // The library loses the signed types where it converts older metadata to the latest version.
  const described =
    metadata.version >= 16
      ? metadata.asV16.extrinsic.transactionExtensions.map(({ identifier, type, implicit }) => ({
          identifier,
          type,
          signedType: implicit,
        }))
      : metadata.asV15.extrinsic.signedExtensions.map(({ identifier, type, additionalSigned }) => ({
          identifier,
          type,
          signedType: additionalSigned,
        }))
  return described.map(({ identifier, type, signedType }) => {
    const name = identifier.toString()
    return {
      name: synonyms.get(name) ?? name,
      valueType: `Lookup${type.toNumber()}`,
      // The default has this length: 0 for the empty type only.
      signedLength: registry.createType(`Lookup${signedType.toNumber()}`).encodedLength,
    }
  })
}

interface Call {
  readonly section: string
  readonly method: string
  readonly args: readonly { toU8a(): Uint8Array; toString(): string }[]
}

const batches = ['batch', 'batchAll', 'forceBatch']
const transfers = ['transfer', 'transferKeepAlive']

const listOrders = (call: Call): readonly OrderedTransfer[] => {
  const [first, target, amount] = call.args
  if (call.section === 'utility' && batches.includes(call.method) && first instanceof Vec) {
    return first.flatMap((member) => (member instanceof GenericCall ? listOrders(member) : []))
  }
  if (call.section !== 'assets' || !transfers.includes(call.method)) return []
  const to = target === undefined ? null : readTarget(target.toU8a())
  if (first === undefined || to === null || amount === undefined) return []
  return [{ asset: first.toString(), to, amount: BigInt(amount.toString()) }]
}

/** `MultiAddress::Id`: the only form that names an account without a look-up in the state. */
const accountId = 0x00

const readTarget = (target: Uint8Array): AccountKey | null =>
  target[0] === accountId && target.length === 1 + hashLength
    ? Buffer.from(target.subarray(1)).toString('hex')
    : null
