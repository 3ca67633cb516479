import { randomBytes } from 'node:crypto'

const prefix = 'qtn_sk_'
const byteCount = 32
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(digits.length)
// ceil(256 / log2(62)).
const digitCount = 43
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${digitCount}}$`)

export const createApiKey = (): string => {
  let rest = BigInt(`0x${randomBytes(byteCount).toString('hex')}`)
  let text = ''
  while (text.length < digitCount) {
    text = `${digits[Number(rest % base)]}${text}`
    rest /= base
  }
  return `${prefix}${text}`
}

/** Checks the format, so that malformed keys need no lookup. */
export const isApiKey = (text: string): boolean => form.test(text)

export const maskedApiKey = `${prefix}${'*'.repeat(8)}`
