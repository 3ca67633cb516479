import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeBase58 } from '../../../../src/chains/common/base58.js'
import { isSmallOrderPoint } from '../../../../src/chains/common/ed25519.js'
import type { Transaction } from '../../../../src/chains/solana/exact/decode.js'
import { isSignedBy } from '../../../../src/chains/solana/exact/prepare.js'

const message = Buffer.from('pay the shop')

const signedBy = (key: Uint8Array, signature: Uint8Array): Transaction => ({
  keys: [encodeBase58(key)],
  requiredSignatures: 1,
  signatures: [signature],
  message,
  messageHash: '',
  blockhash: '',
  instructions: [],
  usesLookupTables: false,
})

const identity = new Uint8Array(32).fill(0)
identity[0] = 1

const toScalar = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const toBytes = (scalar: bigint) => Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse()
const order = 2n ** 252n + 27742317777372353535851937790883648493n

/** A valid signature whose R is the identity point; only the owner of the key can make it. */
const signWithoutNonce = (seed: Uint8Array): Uint8Array => {
  const secret = createHash('sha512').update(seed).digest().subarray(0, 32)
  secret[0] = (secret[0] ?? 0) & 248
  secret[31] = ((secret[31] ?? 0) & 127) | 64
  const publicKey = ed25519.getPublicKey(seed)
  const challenge = createHash('sha512').update(identity).update(publicKey).update(message).digest()
  const answer = (toScalar(challenge) * toScalar(secret)) % order
  return Buffer.concat([identity, toBytes(answer)])
}

describe('Ed25519 signatures', () => {
  it('are accepted only for their own key and message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const key = ed25519.getPublicKey(seed)
        const signature = ed25519.sign(message, seed)
        expect(isSignedBy(signedBy(key, signature), 0)).toBe(true)
        expect(isSignedBy({ ...signedBy(key, signature), message: Buffer.from('pay me') }, 0)).toBe(false)
        expect(isSignedBy(signedBy(ed25519.getPublicKey(key), signature), 0)).toBe(false)
      }),
      { numRuns: 20 },
    )
  })

  it('are refused with the group order added to s', () => {
    const seed = Buffer.alloc(32, 7)
    const signature = Buffer.from(ed25519.sign(message, seed))
    const malleated = Buffer.concat([
      signature.subarray(0, 32),
      toBytes(toScalar(signature.subarray(32)) + order),
    ])
    expect(isSignedBy(signedBy(ed25519.getPublicKey(seed), malleated), 0)).toBe(false)
  })

  // Node's own check depends on its OpenSSL: that of Node 20 accepts them, that of Node 24 does not.
  it('are refused with a small-order R, although they satisfy the equation', () => {
    const seed = Buffer.alloc(32, 9)
    const key = ed25519.getPublicKey(seed)
    const signature = signWithoutNonce(seed)
    expect(ed25519.verify(signature, message, key, { zip215: true })).toBe(true)
    expect(isSignedBy(signedBy(key, signature), 0)).toBe(false)
  })

  it('are refused for a small-order public key', () => {
    const forged = Buffer.concat([identity, Buffer.alloc(32)])
    expect(isSignedBy(signedBy(identity, forged), 0)).toBe(false)
  })

  it('are checked against all small-order points and no other point', () => {
    const torsion = ed25519.ExtendedPoint.fromHex(
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    )
    let point = torsion
    for (let times = 0; times < 8; times += 1) {
      expect(isSmallOrderPoint(point.toRawBytes())).toBe(true)
      point = point.add(torsion)
    }
    expect(isSmallOrderPoint(ed25519.ExtendedPoint.BASE.toRawBytes())).toBe(false)
  })

  it('are refused when they are missing', () => {
    const key = ed25519.getPublicKey(Buffer.alloc(32, 3))
    expect(isSignedBy(signedBy(key, new Uint8Array(64)), 0)).toBe(false)
    expect(isSignedBy({ ...signedBy(key, new Uint8Array(64)), signatures: [] }, 0)).toBe(false)
  })
})
