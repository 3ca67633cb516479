import { z } from 'zod'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const digitOf = new Map([...alphabet].map((letter, value) => [letter, BigInt(value)]))

const maxLength = 90

export const encodeBase58 = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes).toString('hex')
  let rest = hex === '' ? 0n : BigInt(`0x${hex}`)
  let text = ''
  for (; rest > 0n; rest /= 58n) text = `${alphabet[Number(rest % 58n)]}${text}`
  return `${'1'.repeat(countLeading(bytes, 0))}${text}`
}

/** Null if it is not valid base58. */
export const decodeBase58 = (text: string): Buffer | null => {
  if (text === '' || text.length > maxLength) return null
  let value = 0n
  for (const letter of text) {
    const digit = digitOf.get(letter)
    if (digit === undefined) return null
    value = value * 58n + digit
  }
  const hex = value === 0n ? '' : value.toString(16)
  const zeros = Buffer.alloc(countLeading([...text], '1'))
  return Buffer.concat([zeros, Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')])
}

/** A 32-byte address in base58, or null. */
export const readAddress = (text: unknown): string | null =>
  typeof text === 'string' && decodeBase58(text)?.length === 32 ? text : null

const countLeading = <T>(sequence: ArrayLike<T>, wanted: T): number => {
  let count = 0
  while (count < sequence.length && sequence[count] === wanted) count += 1
  return count
}

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
