import { decodeAddress, encodeAddress } from '@polkadot/util-crypto'

/** 32-byte key in lower-case hex, without prefix: what the chain compares. */
export type AccountKey = string

// 32 bytes with a prefix of one or two bytes and a checksum, in base58; leading zero bytes make it shorter.
const ss58Form = /^[1-9A-HJ-NP-Za-km-z]{36,50}$/
const keyLength = 32

/**
 * Any SS58 prefix: wallets show one key with the prefix of whichever network is selected. Hexadecimal keys have no checksum
 * and are refused.
 */
export const readAccountKey = (text: string): AccountKey | null => {
  if (!ss58Form.test(text)) return null
  try {
    const key = decodeAddress(text)
    return key.length === keyLength ? Buffer.from(key).toString('hex') : null
  } catch {
    // A wrong checksum, or a reserved prefix.
    return null
  }
}

export const formatAccountKey = (key: AccountKey, prefix: number): string =>
  encodeAddress(Buffer.from(key, 'hex'), prefix)

const wholeForm = /^(?:0|[1-9][0-9]{0,9})$/
const maxId = 0xffff_ffff

/** Id of the pallet `assets`, as text or number; null if it is no u32. */
export const readAssetId = (value: unknown): string | null => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !wholeForm.test(text)) return null
  return Number(text) <= maxId ? text : null
}
