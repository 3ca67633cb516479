import { type Fields, isFields } from './fields.js'

/*
 * TRON: `signedTransaction` is the hex of the whole transaction, or what TronWeb signers return, as an object or as its
 * JSON text: `{visible, txID, raw_data_hex, signature[], raw_data}`. Only `raw_data_hex` and `signature` are signed.
 */

// A transfer has about 330 bytes, and about 1,500 characters as JSON.
const maxRawDigits = 2_000
const maxSignatures = 5
const maxJsonLength = 16_384

const hexBytes = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/

/**
 * The same proof with `signedTransaction` as lower-case hex without prefix: one spelling, so that both forms have one
 * fingerprint. Unchanged if it is in neither form. Never throws.
 */
export const normalizeSignedTransaction = (proof: Fields): Fields => {
  const { signedTransaction } = proof
  if (signedTransaction === undefined) return proof
  const hex = readHex(signedTransaction) ?? readSigned(signedTransaction)
  return hex === null || hex === signedTransaction ? proof : { ...proof, signedTransaction: hex }
}

const readHex = (value: unknown): string | null => {
  if (typeof value !== 'string' || value.length > maxJsonLength) return null
  return hexBytes.exec(value)?.[1]?.toLowerCase() ?? null
}

const readSigned = (value: unknown): string | null => {
  const signed = typeof value === 'string' ? parseJson(value) : value
  if (!isFields(signed)) return null
  const { raw_data_hex: rawData, signature: signatures } = signed
  const raw = readBoundedHex(rawData, maxRawDigits)
  if (raw === null || !Array.isArray(signatures)) return null
  if (signatures.length === 0 || signatures.length > maxSignatures) return null
  const read = signatures.map((each: unknown) => readBoundedHex(each, signatureDigits))
  const readable = read.filter((signature) => signature !== null)
  return readable.length === read.length ? encodeTransaction(raw, readable) : null
}

/** Protobuf `Transaction` with raw_data and its signatures, all in hex. */
export const encodeTransaction = (raw: string, signatures: readonly string[]): string =>
  [encodeField(1, raw), ...signatures.map((signature) => encodeField(2, signature))].join('')

const signatureDigits = 130

const readBoundedHex = (value: unknown, maxDigits: number): string | null => {
  if (typeof value !== 'string' || value.length > maxDigits + '0x'.length) return null
  const digits = readHex(value)
  return digits !== null && digits.length <= maxDigits ? digits : null
}

const parseJson = (text: string): unknown => {
  if (text.length > maxJsonLength || !text.startsWith('{')) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A length-delimited protobuf field, in hex. */
const encodeField = (number: number, hex: string): string => {
  const head = [(number << 3) | 2]
  for (let left = hex.length / 2; ; left >>= 7) {
    if (left < 0x80) return `${Buffer.from([...head, left]).toString('hex')}${hex}`
    head.push((left & 0x7f) | 0x80)
  }
}
