import { secp256k1 } from '@noble/curves/secp256k1'
import { sha256 } from '@noble/hashes/sha2'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSignedBy } from '../../../src/chains/stacks/signedClaim.js'
import { createStacksKey, type StacksKey } from '../../support/stacks/keys.js'

const testnet = '2147483648'
const text =
  'exact-direct claim\nnetwork: stacks:1\ntransaction: 0x00\npayTo: …\nresource: https://shop.example/'

/** As wallets' `stx_signMessage`, from the published format: prefix, length, message, sha256; r, s, recovery id. */
const sign = ({ privateKey }: StacksKey, message = text, prefix = '\x17Stacks Signed Message:\n') => {
  const bytes = utf8ToBytes(message)
  const length =
    bytes.length < 253
      ? Uint8Array.of(bytes.length)
      : Uint8Array.of(253, bytes.length & 255, bytes.length >> 8)
  const digest = sha256(concatBytes(utf8ToBytes(prefix), length, bytes))
  const signature = secp256k1.sign(digest, privateKey.slice(0, 64))
  return `${signature.toCompactHex()}0${signature.recovery}`
}

describe('a signed claim', () => {
  const key = createStacksKey()
  const claim = { account: key.address, text, publicKey: null }

  it('is that of its account', () => {
    expect(isSignedBy({ ...claim, signature: sign(key) }, testnet)).toBe(true)
    expect(isSignedBy({ ...claim, signature: `0x${sign(key).toUpperCase()}` }, testnet)).toBe(true)
  })

  it.each([0, 1, 252, 253, 254, 2_000])('of %i characters is read', (length) => {
    const long = 'a'.repeat(length)
    expect(isSignedBy({ ...claim, text: long, signature: sign(key, long) }, testnet)).toBe(true)
  })

  it('is not that of another text, another account, another network or another kind of message', () => {
    expect(isSignedBy({ ...claim, signature: sign(key, `${text}?`) }, testnet)).toBe(false)
    expect(isSignedBy({ ...claim, signature: sign(createStacksKey()) }, testnet)).toBe(false)
    expect(isSignedBy({ ...claim, signature: sign(key) }, '1')).toBe(false)
    expect(isSignedBy({ ...claim, signature: sign(key, text, '') }, testnet)).toBe(false)
  })

  it('does not take the key from the payload', () => {
    const other = createStacksKey()
    const publicKey = bytesToHex(secp256k1.getPublicKey(other.privateKey.slice(0, 64)))
    expect(isSignedBy({ ...claim, publicKey, signature: sign(other) }, testnet)).toBe(false)
  })

  it('is false for any other signature, without an exception', () => {
    const signatures = fc.oneof(
      fc.string({ maxLength: 140 }),
      fc.uint8Array({ minLength: 64, maxLength: 66 }).map((bytes) => bytesToHex(bytes)),
      fc
        .uint8Array({ minLength: 64, maxLength: 64 })
        .map((bytes) => `${bytesToHex(bytes)}0${(bytes[0] ?? 0) % 4}`),
    )
    fc.assert(fc.property(signatures, (signature) => !isSignedBy({ ...claim, signature }, testnet)))
  })
})
