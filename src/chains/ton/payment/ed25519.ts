import { createPublicKey, verify } from 'node:crypto'

// What stands before the 32 bytes of a key in its DER form (RFC 8410).
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether a signature of a message is by the owner of a raw Ed25519 key. */
export const isSignedBy = (publicKey: Buffer, message: Buffer, signature: Buffer): boolean => {
  const der = Buffer.concat([publicKeyPrefix, publicKey])
  return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
}
