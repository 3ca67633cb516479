import { blake2AsHex } from '@polkadot/util-crypto'
import { type SignatureType, signatureLengths, signatureTypes } from './signature.js'

/** Extrinsic of format 4 with a signature; the bits below name the format. */
const signedV4 = 0x84
/** `MultiAddress::Id`. */
const accountId = 0x00
const keyLength = 32

export const hashExtrinsic = (extrinsic: string): string =>
  blake2AsHex(Buffer.from(extrinsic.slice(2), 'hex'), 256)

/**
 * The account that the extrinsic names as its signer, as hex of its key; null for inherents and other formats. Read by hand,
 * because the signer stands before everything that differs between runtimes.
 */
export const readSigner = (extrinsic: string): string | null => splitSigned(extrinsic)?.signer ?? null

interface ExtrinsicSignature {
  readonly type: SignatureType
  readonly signature: Buffer
  /** The values of the extensions, then the call. */
  readonly rest: Buffer
}

/** Null without a signature of a known kind. */
export const readSignature = (extrinsic: string): ExtrinsicSignature | null => {
  const signed = splitSigned(extrinsic)
  const type = signatureTypes[signed?.rest[0] ?? -1]
  if (signed === null || type === undefined) return null
  const end = 1 + signatureLengths[type]
  return { type, signature: signed.rest.subarray(1, end), rest: signed.rest.subarray(end) }
}

const splitSigned = (extrinsic: string): { readonly signer: string; readonly rest: Buffer } | null => {
  const bytes = Buffer.from(extrinsic.slice(2), 'hex')
  const start = compactLength(bytes[0])
  if (bytes[start] !== signedV4 || bytes[start + 1] !== accountId) return null
  const end = start + 2 + keyLength
  const key = bytes.subarray(start + 2, end)
  return key.length === keyLength ? { signer: key.toString('hex'), rest: bytes.subarray(end) } : null
}

/** Bytes of a SCALE compact number, from its first byte. */
const compactLength = (first = 0): number => {
  switch (first & 0b11) {
    case 0b00:
      return 1
    case 0b01:
      return 2
    case 0b10:
      return 4
    default:
      return 5 + (first >> 2)
  }
}

// Length 10, format 4 or 5 without signature, any pallet, call 0, a compact number of six bytes.
const timestampForm = /^0x280[45][0-9a-f]{2}000b([0-9a-f]{12})$/

/** Time that the inherent `timestamp.set` gives its block; null without one. */
export const readBlockTime = (extrinsics: readonly string[]): Date | null => {
  for (const extrinsic of extrinsics) {
    const [, littleEndian] = timestampForm.exec(extrinsic) ?? []
    if (littleEndian !== undefined) return new Date(Buffer.from(littleEndian, 'hex').readUIntLE(0, 6))
  }
  return null
}

/** When an extrinsic can be included. */
export interface Era {
  /** The block whose hash the extrinsic signs, of one that stands in this block; 0 for an immortal one. */
  findStart(blockNumber: number): number
}

const maxQuantizedPeriod = 4_096

/** One byte 0, or two bytes of period and phase; null for other bytes. */
export const readEra = (bytes: Uint8Array = new Uint8Array()): Era | null => {
  const [first, second] = bytes
  if (bytes.length === 1 && first === 0) return { findStart: () => 0 }
  if (bytes.length !== 2 || first === undefined || second === undefined) return null
  const encoded = first + (second << 8)
  const period = 2 << (encoded & 0b1111)
  const phase = (encoded >> 4) * Math.max(period / maxQuantizedPeriod, 1)
  if (period < 4 || phase >= period) return null
  return {
    findStart: (blockNumber) => Math.floor((Math.max(blockNumber, phase) - phase) / period) * period + phase,
  }
}
