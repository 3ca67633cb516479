import { fromBech32, toBech32 } from '@cosmjs/encoding'

// BIP-173.
const maxLength = 90

/** Accounts of keys have 20; those of modules and contracts can have 32. */
const byteLengths = [20, 32]

/** Lower case; null if the text is no account address with the prefix. */
export const readAddress = (text: string, prefix: string): string | null => {
  if (text.length > maxLength) return null
  try {
    const decoded = fromBech32(text, maxLength)
    if (decoded.prefix !== prefix || !byteLengths.includes(decoded.data.length)) return null
    return toBech32(prefix, decoded.data, maxLength)
  } catch {
    // A wrong checksum or character.
    return null
  }
}

export const formatAddress = (bytes: Uint8Array, prefix: string): string => toBech32(prefix, bytes, maxLength)
