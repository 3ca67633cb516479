import { randomBytes } from 'node:crypto'

const prefix = 'qtn_sk_'
const byteCount = 32
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(digits.length)
// As many digits as 32 bytes can need.
const digitCount = 43
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${digitCount}}$`)

/** A new key: 256 random bits. */
export const createApiKey = (): string => {
  let rest = BigInt(`0x${randomBytes(byteCount).toString('hex')}`)
  let text = ''
  while (text.length < digitCount) {
    text = `${digits[Number(rest % base)]}${text}`
    rest /= base
  }
  return `${prefix}${text}`
}

/** Whether a text can be a key at all; what cannot is refused without a look-up. */
export const isApiKey = (text: string): boolean => form.test(text)

/** What stands for a key where it must not be shown: the same for every key. */
export const maskedApiKey = `${prefix}${'*'.repeat(8)}`
