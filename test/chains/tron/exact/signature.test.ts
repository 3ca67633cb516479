import { createHash, randomBytes } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1'
import { describe, expect, it } from 'vitest'
import {
  loadNativeRecover,
  recoverInJavaScript,
  recoverSigner,
} from '../../../../src/chains/tron/exact/signature.js'
import { createTronKey } from '../../../support/tron/keys.js'

const sign = (digest: string, privateKey: string) => {
  const signature = secp256k1.sign(digest, privateKey)
  const recovery: 0 | 1 = signature.recovery === 0 ? 0 : 1
  return { rs: signature.toCompactHex(), recovery }
}

describe('signer recovery', () => {
  it('gives the same result natively and in JavaScript', () => {
    const native = loadNativeRecover()
    if (native === null) throw new Error('The native addon does not fit this machine')
    for (let round = 0; round < 20; round++) {
      const key = createTronKey()
      const digest = createHash('sha256').update(randomBytes(32)).digest('hex')
      const { rs, recovery } = sign(digest, key.privateKey)
      for (const recover of [native, recoverInJavaScript]) {
        expect(recover(digest, { rs, recovery })).toBe(key.hexAddress)
      }
    }
  })

  it.each([
    ['empty', ''],
    ['zeros', '00'.repeat(65)],
    ['r beyond the order', `${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
    ['another v', `${'11'.repeat(64)}1d`],
    ['64 bytes', '11'.repeat(64)],
    ['66 bytes', '11'.repeat(66)],
  ])('returns null for an invalid signature: %s', (_what, signature) => {
    expect(recoverSigner('22'.repeat(32), signature)).toBeNull()
  })
})
