import { createHash } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../../common/base58.js'

/** 21 bytes in lower-case hex, starting with `41`. */
export type TronAddress = `41${string}`

const hexForm = /^(?:41|0x)?([0-9a-fA-F]{40})$/
const base58Form = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/** Reads base58check, or hex with `41`, with `0x` or without; null if invalid. */
export const readAddress = (text: unknown): TronAddress | null => {
  if (typeof text !== 'string') return null
  const hex = hexForm.exec(text)?.[1]
  if (hex !== undefined) return `41${hex.toLowerCase()}`
  return base58Form.test(text) ? decodeAddress(text) : null
}

const addressLength = 21
const checksumLength = 4

const decodeAddress = (text: string): TronAddress | null => {
  const bytes = decodeBase58(text)
  if (bytes?.length !== addressLength + checksumLength || bytes[0] !== 0x41) return null
  const address = bytes.subarray(0, addressLength)
  return checksumOf(address).equals(bytes.subarray(addressLength)) ? `41${address.toString('hex', 1)}` : null
}

export const formatAddress = (address: TronAddress): string => {
  const bytes = Buffer.from(address, 'hex')
  return encodeBase58(Buffer.concat([bytes, checksumOf(bytes)]))
}

/** The library hashes in JavaScript, which takes three times as long as all of this. */
const checksumOf = (address: Buffer): Buffer => sha256(sha256(address)).subarray(0, checksumLength)

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

export const toWord = (address: TronAddress): string => address.slice(2).padStart(64, '0')
