import { createHash } from 'node:crypto'
import { encodeBase58 } from '../../common/base58.js'

/** A decoded transaction; addresses and hashes in base58. */
export interface Transaction {
  /** Static account keys; the first is the fee payer. */
  readonly keys: readonly string[]
  /** The first accounts of `keys` must sign. */
  readonly requiredSignatures: number
  /** One per required signer; zeros where it is missing. */
  readonly signatures: readonly Uint8Array[]
  readonly message: Uint8Array
  /** SHA-256 of the message in hex: the authorization's identity, independent of signatures. */
  readonly messageHash: string
  readonly blockhash: string
  readonly instructions: readonly Instruction[]
  readonly usesLookupTables: boolean
}

export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Buffer
}

// Maximum transaction size (PACKET_DATA_SIZE).
const maxBytes = 1_232
const maxBase64Length = 1_644

/**
 * Decodes an untrusted base64 transaction; null if invalid. Only the canonical encoding is accepted, so that
 * two different texts cannot be the same payment.
 */
export const decodeTransaction = (text: string): Transaction | null => {
  if (text.length > maxBase64Length) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || bytes.length > maxBytes) return null
  try {
    return readTransaction(bytes)
  } catch {
    return null
  }
}

const decoded = new WeakMap<object, { readonly text: string; readonly transaction: Transaction | null }>()

/** Decodes the transaction of a proof once: a settlement is identified first, and prepared later. */
export const decodeProof = (proof: object, text: string): Transaction | null => {
  const known = decoded.get(proof)
  if (known?.text === text) return known.transaction
  const transaction = decodeTransaction(text)
  decoded.set(proof, { text, transaction })
  return transaction
}

const signatureLength = 64
const keyLength = 32

/** Every length in its shortest form and nothing left over: so the bytes are the only encoding of what they say. */
const readTransaction = (bytes: Buffer): Transaction | null => {
  const reader = createByteReader(bytes)
  const signatures = readList(reader, () => reader.readBytes(signatureLength))
  const message = Buffer.from(reader.rest())
  const { header, keys, blockhash, instructions: compiled, hasLookups } = readMessage(reader)
  if (reader.rest().length > 0) return null
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header
  const isSane =
    signatures.length === requiredSignatures &&
    readonlySigned < requiredSignatures &&
    requiredSignatures + readonlyUnsigned <= keys.length &&
    new Set(keys).size === keys.length
  if (!isSane) return null
  const instructions: Instruction[] = []
  for (const { programIndex, accountIndexes, data } of compiled) {
    const program = keys[programIndex]
    const accounts = accountIndexes.map((index) => keys[index])
    if (program === undefined || programIndex === 0) return null
    // Accounts from lookup tables stay unresolved; such a transaction is refused later.
    if (!hasLookups && accounts.includes(undefined)) return null
    instructions.push({ program, accounts: accounts.map((account) => account ?? ''), data })
  }
  return {
    keys,
    requiredSignatures,
    signatures,
    message,
    messageHash: createHash('sha256').update(message).digest('hex'),
    blockhash,
    instructions,
    usesLookupTables: hasLookups,
  }
}

// The first byte of a legacy message is the number of signatures; of others a version, marked by the highest bit.
const versionMark = 0x80
const onlyVersion = 0

const readMessage = (reader: ByteReader) => {
  const first = reader.readByte()
  const isVersioned = (first & versionMark) !== 0
  if (isVersioned && (first & ~versionMark) !== onlyVersion) throw new Error('Unknown message version')
  const header = {
    requiredSignatures: isVersioned ? reader.readByte() : first,
    readonlySigned: reader.readByte(),
    readonlyUnsigned: reader.readByte(),
  }
  const readKey = () => encodeBase58(reader.readBytes(keyLength))
  const keys = readList(reader, readKey)
  const blockhash = readKey()
  const instructions = readList(reader, () => ({
    programIndex: reader.readByte(),
    accountIndexes: [...reader.readBytes(reader.readLength())],
    data: Buffer.from(reader.readBytes(reader.readLength())),
  }))
  // Table, writable and readonly indexes.
  const lookups = isVersioned
    ? readList(reader, () => [
        readKey(),
        reader.readBytes(reader.readLength()),
        reader.readBytes(reader.readLength()),
      ])
    : []
  return { header, keys, blockhash, instructions, hasLookups: lookups.length > 0 }
}

const readList = <Item>(reader: ByteReader, readItem: () => Item): readonly Item[] =>
  Array.from({ length: reader.readLength() }, readItem)

export const encodeTransaction = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  // The compact-u16 length takes one byte below 128 signatures.
  Buffer.concat([Buffer.from([signatures.length]), ...signatures, message]).toString('base64')

/** Reads a buffer from its start; every method throws at the end of the buffer. */
interface ByteReader {
  readByte(): number
  readBytes(length: number): Buffer
  /** Compact-u16: seven bits a byte, the lowest first; throws for longer forms than the shortest one. */
  readLength(): number
  /** What follows, without reading it. */
  rest(): Buffer
}

const continues = 0x80
const maxLength = 0xffff

const createByteReader = (bytes: Buffer): ByteReader => {
  let offset = 0

  const readBytes = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError('The bytes end too early')
    offset += length
    return bytes.subarray(offset - length, offset)
  }
  const readByte = (): number => readBytes(1).readUInt8(0)

  const readLength = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = readByte()
      value += (byte & ~continues) << shift
      const isTooLong = value > maxLength || shift > 14 || (byte === 0 && shift > 0)
      if (isTooLong) throw new RangeError('The length is not in its shortest form')
      if ((byte & continues) === 0) return value
    }
  }

  return { readByte, readBytes, readLength, rest: () => bytes.subarray(offset) }
}
