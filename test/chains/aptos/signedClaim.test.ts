import { Account, Ed25519PrivateKey } from '@aptos-labs/ts-sdk'
import { describe, expect, it } from 'vitest'
import { hashOf, toHex } from '../../support/aptos/bytes.js'
import { addressOf } from '../../support/aptos/payment.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const textOf = (transaction: string) =>
  [
    'exact-direct claim',
    'network: aptos:2',
    `transaction: ${transaction}`,
    `payTo: ${scene.payTo}`,
    'resource: https://shop.example/report',
  ].join('\n')

const asWalletSigns = (text: string) => `APTOS\nmessage: ${text}\nnonce: exact-direct`

const sign = (account: Pick<Account, 'sign' | 'publicKey'>, message: string) => ({
  signature: account.sign(Buffer.from(message).toString('hex')).toString(),
  publicKey: account.publicKey.toString(),
})

const required = { requireSignedClaim: true }

describe('a signed claim on Aptos', () => {
  it.each([
    ['the full message of the wallet standard', asWalletSigns],
    ['the plain text', (text: string) => text],
  ])('is accepted over %s', async (_, form) => {
    const transaction = await scene.pay()
    const claim = sign(scene.payer, form(textOf(transaction)))
    expect(await scene.verify({ transaction, extra: required, claim })).toMatchObject({ isValid: true })
  })

  it('is accepted from a single-key account, whose authentication key is another hash of the key', async () => {
    const account = Account.fromPrivateKey({
      privateKey: Ed25519PrivateKey.generate(),
      legacy: false,
    })
    const key = account.publicKey.toUint8Array().slice(-32)
    const isSigned = await scene.family.isSignedBy?.({
      account: addressOf(account),
      text: 'text',
      signature: toHex(account.sign(Buffer.from('text').toString('hex')).toUint8Array().slice(-64)),
      publicKey: toHex(key),
    })
    expect(isSigned).toBe(true)
  })

  it('is refused from the key that the account had before a rotation, and accepted from the new one', async () => {
    const transaction = await scene.pay()
    const next = Account.generate()
    const [before, after] = [scene.payer, next].map((account) =>
      sign(account, asWalletSigns(textOf(transaction))),
    )
    scene.chain.rotateKey(scene.from, toHex(hashOf(next.publicKey.toUint8Array(), Uint8Array.of(0))))
    try {
      expect(await scene.verify({ transaction, claim: before })).toMatchObject({
        reason: 'invalid_claim_signature',
      })
      expect(await scene.verify({ transaction, claim: after })).toMatchObject({ isValid: true })
    } finally {
      scene.chain.rotateKey(scene.from, scene.from)
    }
  })

  it.each([
    ['is missing where it is required', () => undefined],
    ['is of another account', (text: string) => sign(scene.other, asWalletSigns(text))],
    ['is over another nonce', (text: string) => sign(scene.payer, `APTOS\nmessage: ${text}\nnonce: 1`)],
    ['is over another text', (text: string) => sign(scene.payer, asWalletSigns(`${text}/other`))],
    [
      'has no public key',
      (text: string) => ({ signature: sign(scene.payer, asWalletSigns(text)).signature }),
    ],
    [
      'has a malformed key',
      (text: string) => ({ ...sign(scene.payer, asWalletSigns(text)), publicKey: '0x12' }),
    ],
    [
      'has a malformed signature',
      (text: string) => ({ ...sign(scene.payer, asWalletSigns(text)), signature: 'signed' }),
    ],
  ])('is refused when it %s', async (_, makeClaim) => {
    const transaction = await scene.pay()
    const claim = makeClaim(textOf(transaction))
    expect(await scene.verify({ transaction, extra: required, claim })).toMatchObject({
      isValid: false,
      reason: 'invalid_claim_signature',
    })
  })
})
