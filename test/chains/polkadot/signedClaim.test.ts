import { u8aToHex } from '@polkadot/util'
import { cryptoWaitReady } from '@polkadot/util-crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { isSignedBy } from '../../../src/chains/polkadot/signedClaim.js'
import { createKey, type KeyType } from '../../support/polkadot/keys.js'

const text =
  'exact-direct claim\nnetwork: polkadot:1\ntransaction: 0x00\npayTo: …\nresource: https://shop.example/'

/** As the extensions' `signRaw` of type `bytes`. */
const signRaw = (key: ReturnType<typeof createKey>, message = text, withType = false) =>
  u8aToHex(key.sign(new TextEncoder().encode(`<Bytes>${message}</Bytes>`), { withType }))

// sr25519 is WebAssembly.
beforeAll(async () => {
  await cryptoWaitReady()
})

const types: readonly KeyType[] = ['sr25519', 'ed25519', 'ecdsa']

describe.each(types)('a claim signed with %s', (type) => {
  it('is that of its account', () => {
    const key = createKey(type)
    const claim = { account: key.address, text, publicKey: null }
    expect(isSignedBy({ ...claim, signature: signRaw(key) })).toBe(true)
    expect(isSignedBy({ ...claim, signature: signRaw(key, text, true) })).toBe(true)
  })

  it('is not that of another text or another account', () => {
    const [key, other] = [createKey(type), createKey(type)]
    const claim = { account: key.address, text, publicKey: null }
    expect(isSignedBy({ ...claim, signature: signRaw(key, `${text}?`) })).toBe(false)
    expect(isSignedBy({ ...claim, signature: signRaw(other) })).toBe(false)
  })

  it('must be signed between the marks of a message', () => {
    const key = createKey(type)
    const signature = u8aToHex(key.sign(new TextEncoder().encode(text)))
    expect(isSignedBy({ account: key.address, text, signature, publicKey: null })).toBe(false)
  })
})

it('is false for any other signature, without an exception', () => {
  const account = createKey('ed25519').address
  const signatures = fc.oneof(
    fc.string({ maxLength: 140 }),
    fc.uint8Array({ minLength: 63, maxLength: 67 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  )
  fc.assert(
    fc.property(signatures, (signature) => !isSignedBy({ account, text, signature, publicKey: null })),
  )
  expect(isSignedBy({ account: 'none', text, signature: `0x${'00'.repeat(64)}`, publicKey: null })).toBe(
    false,
  )
})
