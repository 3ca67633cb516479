import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { isSmallOrderPoint } from './smallOrder.js'

// RFC 8410: what stands before the 32 bytes of a key in its DER form.
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex')
const privateKeyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** What is said to be signed, and by whom: 32 bytes of a key, 64 of a signature. */
export interface SignedBytes {
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** Whether a message is signed by the owner of a key; strictly: keys and signatures that prove nothing are refused. */
export const isEd25519Signed = ({ publicKey, message, signature }: SignedBytes): boolean => {
  if (isSmallOrderPoint(publicKey) || isSmallOrderPoint(signature)) return false
  try {
    const der = Buffer.concat([publicKeyPrefix, publicKey])
    return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
  } catch {
    // It is no key.
    return false
  }
}

/** The private key that 32 secret bytes are. */
export const readEd25519Seed = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privateKeyPrefix, seed]), format: 'der', type: 'pkcs8' })
