import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto'

// DER prefix of a raw 32-byte key (RFC 8410).
const privateKeyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

interface SignedMessage {
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** Rejects small-order public keys and R points, as Solana validators do (`verify_strict`). */
export const isValidEd25519Signature = ({ publicKey, message, signature }: SignedMessage): boolean => {
  if (isSmallOrderPoint(publicKey) || isSmallOrderPoint(signature)) return false
  try {
    // As a JWK: OpenSSL's decoder takes as long for a key in DER as the verification itself.
    const x = Buffer.from(publicKey).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, message, key, signature)
  } catch {
    // Not a curve point.
    return false
  }
}

export const readEd25519Seed = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privateKeyPrefix, seed]), format: 'der', type: 'pkcs8' })

/*
 * The canonical and non-canonical encodings of the eight small-order points, sign bit cleared. A signature
 * with such a key or R proves nothing: it can be valid for any message.
 */
const points = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

const pointLength = 32
const withoutSign = 0x7f

/** Checks the first 32 bytes: a public key, or the R of a signature. */
export const isSmallOrderPoint = (bytes: Uint8Array): boolean => {
  const point = Buffer.from(bytes.subarray(0, pointLength))
  point[pointLength - 1] = (point[pointLength - 1] ?? 0) & withoutSign
  return points.has(point.toString('hex'))
}
