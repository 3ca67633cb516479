import { baseDecode, baseEncode } from 'near-api-js'

const minLength = 2
const maxLength = 64

// NEAR's grammar: lower-case words, joined by single separators.
const accountForm = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/

/** Null if the text is no account id. There is only one spelling of each. */
export const readAccountId = (text: string): string | null =>
  text.length >= minLength && text.length <= maxLength && accountForm.test(text) ? text : null

const byteLength = 32

// 32 zero bytes are 32 characters, 32 bytes of 255 are 44.
const base58Form = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** Hashes and ed25519 keys; null if the text is not base58 of 32 bytes. Bounds the length before it decodes. */
export const readBytes32 = (text: string): Uint8Array | null => {
  if (!base58Form.test(text)) return null
  const bytes = baseDecode(text)
  return bytes.length === byteLength ? bytes : null
}

/** Null if the text is no transaction hash. */
export const readHash = (text: string): string | null => {
  const bytes = readBytes32(text)
  return bytes === null ? null : baseEncode(bytes)
}
