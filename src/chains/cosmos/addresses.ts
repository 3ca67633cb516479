import { createHash } from 'node:crypto'
import { fromBech32, toBech32 } from '@cosmjs/encoding'

// BIP-173.
const maxAddressLength = 90

/** Accounts of keys have 20; those of modules and contracts can have 32. */
const byteLengths = [20, 32]

/** Lower case; null if the text is no account address with the prefix. */
export const readAddress = (text: string, prefix: string): string | null => {
  if (text.length > maxAddressLength) return null
  try {
    const decoded = fromBech32(text, maxAddressLength)
    if (decoded.prefix !== prefix || !byteLengths.includes(decoded.data.length)) return null
    return toBech32(prefix, decoded.data, maxAddressLength)
  } catch {
    // A wrong checksum or character.
    return null
  }
}

export const formatAddress = (bytes: Uint8Array, prefix: string): string =>
  toBech32(prefix, bytes, maxAddressLength)

// Grammar of the bank module; IBC vouchers are `ibc/` and a hash.
const denomForm = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/

const maxDenomLength = 128

/** Denominations are case-sensitive. Null if the text names none. */
export const readDenom = (text: string): string | null =>
  text.length <= maxDenomLength && denomForm.test(text) ? text : null

const hashForm = /^(?:0x)?([0-9a-fA-F]{64})$/

/** Upper-case hex; null if the text is no transaction hash. */
export const readHash = (text: string): string | null =>
  text.length <= 66 ? (hashForm.exec(text)?.[1]?.toUpperCase() ?? null) : null

export const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Upper-case hex, as nodes write hashes. */
export const toHash = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()
