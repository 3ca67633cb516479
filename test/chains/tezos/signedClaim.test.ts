import { randomBytes } from 'node:crypto'
import { InMemorySigner } from '@taquito/signer'
import { b58Encode, PrefixV2 } from '@taquito/utils'
import { describe, expect, it } from 'vitest'
import { isSignedBy } from '../../../src/chains/tezos/signedClaim.js'
import { openScene } from './scene.js'

const text = 'exact-direct claim\nnetwork: tezos:NetXnHfVqm9iesp\ntransaction: o…\npayTo: tz1…\nresource: '

/** As wallets pack a string: 05 01, length, bytes. */
const pack = (message: string): string => {
  const bytes = Buffer.from(message, 'utf8')
  return `0501${bytes.length.toString(16).padStart(8, '0')}${bytes.toString('hex')}`
}

const createSigner = (prefix: PrefixV2) => InMemorySigner.fromSecretKey(b58Encode(randomBytes(32), prefix))

const claimOf = async (signer: InMemorySigner, message = text) => {
  const { prefixSig, sig } = await signer.sign(pack(message))
  return {
    account: await signer.publicKeyHash(),
    text,
    publicKey: await signer.publicKey(),
    signature: prefixSig,
    generic: sig,
  }
}

describe.each([
  ['Ed25519', PrefixV2.Ed25519Seed],
  ['secp256k1', PrefixV2.Secp256k1SecretKey],
  ['P-256', PrefixV2.P256SecretKey],
])('a claim signed with a key on %s', (_, prefix) => {
  it('is accepted, with the prefix of its curve or the generic one', async () => {
    const claim = await claimOf(await createSigner(prefix))
    expect(isSignedBy(claim)).toBe(true)
    expect(isSignedBy({ ...claim, signature: claim.generic })).toBe(true)
  })

  it('is refused for another account, text, key or signature', async () => {
    const [claim, other] = await Promise.all([
      createSigner(prefix).then((signer) => claimOf(signer)),
      createSigner(prefix).then((signer) => claimOf(signer)),
    ])
    const wrong = [
      { ...claim, account: other.account },
      { ...claim, text: `${text}x` },
      { ...claim, publicKey: other.publicKey },
      { ...claim, publicKey: null },
      { ...claim, signature: other.signature },
      { ...claim, publicKey: 'edpk' },
      { ...claim, signature: `edsig${'1'.repeat(94)}` },
      { ...claim, signature: 'x'.repeat(1_024) },
      // Its key signed, and its account did not pay.
      { ...other, account: claim.account },
    ]
    expect(wrong.map(isSignedBy)).toEqual(wrong.map(() => false))
  })

  it('is refused over the plain text, which no wallet signs', async () => {
    const signer = await createSigner(prefix)
    const { prefixSig } = await signer.sign(Buffer.from(text, 'utf8').toString('hex'))
    const claim = await claimOf(signer)
    expect(isSignedBy({ ...claim, signature: prefixSig })).toBe(false)
  })
})

describe('a payment that requires a signed claim', () => {
  it('is accepted with the claim of its payer, and refused with that of another account or none', async () => {
    const scene = await openScene()
    try {
      const transaction = await scene.pay()
      const claimed = [
        'exact-direct claim',
        'network: tezos:NetXnHfVqm9iesp',
        `transaction: ${transaction}`,
        `payTo: ${scene.payTo}`,
        'resource: https://shop.example/report',
      ].join('\n')
      const verify = async (signer: InMemorySigner | null) => {
        const { publicKey = '', signature = '' } = signer === null ? {} : await claimOf(signer, claimed)
        const claim = signer === null ? undefined : { publicKey, signature }
        return await scene.verifyBy('tzkt', { transaction, extra: { requireSignedClaim: true }, claim })
      }
      expect(await verify(scene.payer.signer)).toMatchObject({ isValid: true })
      for (const signer of [scene.other.signer, null]) {
        expect(await verify(signer)).toMatchObject({ reason: 'invalid_claim_signature' })
      }
    } finally {
      await scene.close()
    }
  })
})
