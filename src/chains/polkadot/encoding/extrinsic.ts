import { blake2AsHex } from '@polkadot/util-crypto'

/** Extrinsic of format 4 with a signature; the bits below name the format. */
const signedV4 = 0x84
/** `MultiAddress::Id`. */
const accountId = 0x00
const keyLength = 32

export const hashExtrinsic = (extrinsic: string): string =>
  blake2AsHex(Buffer.from(extrinsic.slice(2), 'hex'), 256)

/**
 * The account whose signature the runtime checked, as hex of its key; null for inherents and other formats. Read by hand,
 * because the signer stands before everything that differs between runtimes.
 */
export const readSigner = (extrinsic: string): string | null => {
  const bytes = Buffer.from(extrinsic.slice(2), 'hex')
  const start = compactLength(bytes[0])
  if (bytes[start] !== signedV4 || bytes[start + 1] !== accountId) return null
  const key = bytes.subarray(start + 2, start + 2 + keyLength)
  return key.length === keyLength ? key.toString('hex') : null
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
