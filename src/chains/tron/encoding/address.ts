import { utils } from 'tronweb'

/** 21 bytes in lower-case hex, starting with `41`. */
export type TronAddress = `41${string}`

const hexForm = /^(?:41|0x)?([0-9a-fA-F]{40})$/
const base58Form = /^T[1-9A-HJ-NP-Za-km-z]{33}$/

/** Reads base58check, or hex with `41`, with `0x` or without; null if invalid. */
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

export const formatAddress = (address: TronAddress): string =>
  utils.crypto.getBase58CheckAddress([...Buffer.from(address, 'hex')])

export const toWord = (address: TronAddress): string => address.slice(2).padStart(64, '0')
