import { secp256k1 } from '@noble/curves/secp256k1'
import { beforeAll, describe, expect, it } from 'vitest'
import { cosmosBody } from '../../support/cosmos/payment.js'
import { signClaim } from '../../support/cosmos/signClaim.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene } from './scene.js'

const scene = useScene(openScene)
let payTo: string
let txHash: string

beforeAll(async () => {
  payTo = await scene.addMerchant()
  txHash = await scene.pay(payTo)
})

const textOf = (changes: Readonly<Record<string, string>> = {}): string => {
  const lines = { network: 'cosmos:grand-1', transaction: txHash, payTo, resource: '', ...changes }
  return ['exact-direct claim', ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`)].join(
    '\n',
  )
}

const sign = (options: Partial<Parameters<typeof signClaim>[0]> = {}) =>
  signClaim({ wallet: scene.payer, text: textOf(), ...options })

const verify = (claim: unknown, from = scene.payer.address) =>
  scene.verify(cosmosBody({ payTo, amount, extra: { requireSignedClaim: true } }, { txHash, from, claim }))

type Signed = ReturnType<typeof signClaim>

describe('the signed claim on a Cosmos chain', () => {
  it('is a text that the wallet signed (ADR-36)', async () => {
    expect(await verify(sign())).toMatchObject({ isValid: true })
  })

  it.each([
    ['by another key', async () => sign({ wallet: await scene.addPayer() })],
    [
      'by another key in the name of the payer',
      async () => {
        const { privateKey, publicKey } = await scene.addPayer()
        return sign({ wallet: { address: scene.payer.address, privateKey, publicKey } })
      },
    ],
    ['for another purchase', () => sign({ text: textOf({ resource: 'https://shop.example/other' }) })],
    ['for another recipient of the payment', () => sign({ text: textOf({ payTo: scene.payer.address }) })],
    ['for another transaction', () => sign({ text: textOf({ transaction: 'F'.repeat(64) }) })],
    ['for another network', () => sign({ text: textOf({ network: 'cosmos:noble-1' }) })],
    ['with a chain id, as a transaction has one', () => sign({ chainId: 'grand-1' })],
    ['as a message of another type', () => sign({ type: 'cosmos-sdk/MsgSend' })],
    ['with another signer', () => sign({ signer: payTo })],
    ['with high s', () => sign({ highS: true })],
  ])('is refused when signed %s', async (_, signing) => {
    expect(await verify(await signing())).toMatchObject({ isValid: false, reason: 'invalid_claim_signature' })
  })

  it.each([
    ['no claim', (): unknown => undefined],
    ['no public key', ({ signature }: Signed) => ({ signature })],
    [
      'an uncompressed key',
      (signed: Signed) => ({
        ...signed,
        publicKey: Buffer.from(secp256k1.getPublicKey(scene.payer.privateKey, false)).toString('base64'),
      }),
    ],
    [
      'a key that is no point',
      (signed: Signed) => ({ ...signed, publicKey: Buffer.alloc(33, 2).toString('base64') }),
    ],
    [
      'a key in hex',
      (signed: Signed) => ({ ...signed, publicKey: Buffer.from(signed.publicKey, 'base64').toString('hex') }),
    ],
    [
      'a signature of zeros',
      (signed: Signed) => ({ ...signed, signature: Buffer.alloc(64).toString('base64') }),
    ],
    ['a shorter signature', (signed: Signed) => ({ ...signed, signature: signed.signature.slice(4) })],
    ['an empty signature', (signed: Signed) => ({ ...signed, signature: '' })],
  ])('is refused with %s', async (_, change) => {
    expect(await verify(change(sign()))).toMatchObject({ isValid: false, reason: 'invalid_claim_signature' })
  })
})
