import { createHash, createPublicKey, verify } from 'node:crypto'
import { sha256 } from './hash.js'

// DER prefix of a compressed secp256k1 key (RFC 5480).
const publicKeyPrefix = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex')

// Half the order of the curve: the chain refuses greater s.
const maxS = BigInt('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

const keyLength = 33
const signatureLength = 64

/** The bytes of the key's account address. */
export const hashKey = (key: Uint8Array): Buffer => createHash('ripemd160').update(sha256(key)).digest()

/** Over the sha256 of the message; r and s without recovery id. False for what is no key or signature. */
export const isSignedByKey = (key: Uint8Array, message: Uint8Array, rs: Uint8Array): boolean => {
  if (key.length !== keyLength || rs.length !== signatureLength) return false
  if (BigInt(`0x${Buffer.from(rs.subarray(32)).toString('hex')}`) > maxS) return false
  try {
    const der = Buffer.concat([publicKeyPrefix, key])
    const keyObject = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return verify('sha256', message, { key: keyObject, dsaEncoding: 'ieee-p1363' }, rs)
  } catch {
    // Not a curve point.
    return false
  }
}
