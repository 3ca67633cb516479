import { z } from 'zod'
import { decodeBase58 } from '../../common/base58.js'

/** A 32-byte address in base58, or null. */
export const readAddress = (text: unknown): string | null =>
  typeof text === 'string' && decodeBase58(text)?.length === 32 ? text : null

const keyLength = 64
const numbers = z.array(z.int().min(0).max(255)).length(keyLength)

/** Reads a 64-byte key (seed, public key) in base58 or as a JSON array; null if it is neither. */
export const readKeyBytes = (text: string): Buffer | null => {
  if (!text.startsWith('[')) {
    const bytes = decodeBase58(text)
    return bytes?.length === keyLength ? bytes : null
  }
  try {
    const parsed = numbers.safeParse(JSON.parse(text))
    return parsed.success ? Buffer.from(parsed.data) : null
  } catch {
    return null
  }
}

/** Splits at commas, except inside JSON arrays. */
export const splitKeys = (text: string): readonly string[] =>
  [...text.matchAll(/\[[^\]]*\]|[^,\s[\]]+/g)].map(([key]) => key)
