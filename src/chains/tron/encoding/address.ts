import { utils } from 'tronweb'

/** An address as 21 bytes in lower-case hex, the first of them `41`. */
export type TronAddress = `41${string}`

const hexForm = /^(?:41|0x)?([0-9a-fA-F]{40})$/
const base58Form = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/** Reads an address in base58 with its checksum, or in hex with `41`, with `0x` or without; null for what is none. */
export const readAddress = (text: unknown): TronAddress | null => {
  if (typeof text !== 'string') return null
  const hex = hexForm.exec(text)?.[1]
  if (hex !== undefined) return `41${hex.toLowerCase()}`
  return base58Form.test(text) ? decodeBase58(text) : null
}

const decodeBase58 = (text: string): TronAddress | null => {
  const bytes = utils.crypto.decode58Check(text)
  if (bytes === false || bytes.length !== 21 || bytes[0] !== 0x41) return null
  return `41${Buffer.from(bytes.slice(1)).toString('hex')}`
}

/** An address as wallets show it. */
export const formatAddress = (address: TronAddress): string =>
  utils.crypto.getBase58CheckAddress([...Buffer.from(address, 'hex')])

/** An address as a word of 32 bytes, as contracts take and tell it. */
export const toWord = (address: TronAddress): string => address.slice(2).padStart(64, '0')
