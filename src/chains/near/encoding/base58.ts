import { baseDecode, baseEncode } from 'near-api-js'

const byteLength = 32

// 32 zero bytes are 32 characters, 32 bytes of 255 are 44.
const form = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** Hashes and ed25519 keys; null if the text is not base58 of 32 bytes. Bounds the length before it decodes. */
export const readBytes32 = (text: string): Uint8Array | null => {
  if (!form.test(text)) return null
  const bytes = baseDecode(text)
  return bytes.length === byteLength ? bytes : null
}

/** Null if the text is no transaction hash. */
export const readHash = (text: string): string | null => {
  const bytes = readBytes32(text)
  return bytes === null ? null : baseEncode(bytes)
}
