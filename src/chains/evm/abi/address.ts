import type { Hex } from 'viem'
import { z } from 'zod'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { keccak } from './words.js'

const addressForm = /^0x[0-9a-fA-F]{40}$/
const addressLength = 42

// Untrusted requests name any addresses, in any letter case, so the cache is bounded. A channel has five.
const maxRemembered = 20_000
const remembered = new Map<string, Hex>()

/** Reads an address in any letter case into EIP-55 form; null for anything else. */
export const readAddress = (text: unknown): Hex | null => {
  if (typeof text !== 'string' || text.length !== addressLength) return null
  const known = remembered.get(text)
  if (known !== undefined) return known
  if (!addressForm.test(text)) return null
  const address = toChecksum(text.slice(2).toLowerCase())
  setNewest(remembered, text, address, maxRemembered)
  return address
}

/** Addresses are compared in this spelling: lower case. */
export const normalizeAddress = (text: string): Hex | null =>
  addressForm.test(text) ? `0x${text.slice(2).toLowerCase()}` : null

/** EIP-55: upper case where the hash of the lower-case address has a digit above 7. */
const toChecksum = (digits: string): Hex => {
  const hash = keccak(digits)
  const address = Buffer.from(digits, 'latin1')
  for (let at = 0; at < address.length; at++) {
    const character = address[at] ?? 0
    if (character >= smallA && hash.charCodeAt(at + 2) > highestSmallDigit)
      address[at] = character - toCapital
  }
  return `0x${address.toString('latin1')}`
}

const smallA = 0x61
const toCapital = 0x20
const highestSmallDigit = 0x37

export const isSameAddress = (left: Hex, right: Hex): boolean =>
  left === right || left.toLowerCase() === right.toLowerCase()

/* The journal's `details` hold values in these forms. */

export const wholeNumberField = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text))

/** 32 bytes in lower case, as rows of the journal have them. */
export const hashField = z.custom<Hex>((text) => typeof text === 'string' && /^0x[0-9a-f]{64}$/.test(text))

/** Reads an address into EIP-55 form. */
export const addressField = z.string().transform((text, context) => {
  const address = readAddress(text)
  if (address !== null) return address
  context.addIssue('must be an EVM address')
  return z.NEVER
})
