import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { decodeBase58 } from '../encoding/base58.js'
import { beginsWithSmallOrder } from './smallOrder.js'
import type { Transaction } from './transaction.js'

// RFC 8410: what stands before the 32 bytes of an Ed25519 key.
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether one of the accounts that must sign has signed the message, as strictly as validators see it. */
export const isSignedBy = ({ keys, signatures, message }: Transaction, signer: number): boolean => {
  const address = keys[signer]
  const signature = signatures[signer]
  const key = address === undefined ? null : readKey(address)
  if (key === null || signature === undefined || beginsWithSmallOrder(signature)) return false
  return verify(null, message, key, signature)
}

const readKey = (address: string): KeyObject | null => {
  const bytes = decodeBase58(address)
  if (bytes === null || beginsWithSmallOrder(bytes)) return null
  try {
    const key = Buffer.concat([publicKeyPrefix, bytes])
    return createPublicKey({ key, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}
