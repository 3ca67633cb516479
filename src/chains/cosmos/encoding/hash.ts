import { createHash } from 'node:crypto'

const form = /^(?:0x)?([0-9a-fA-F]{64})$/

/** Upper-case hex; null if the text is no transaction hash. */
export const readHash = (text: string): string | null =>
  text.length <= 66 ? (form.exec(text)?.[1]?.toUpperCase() ?? null) : null

export const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Upper-case hex, as nodes write hashes. */
export const toHash = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()
