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
