import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  createWallet,
  type NearWallet,
  nearBody,
  newAccountId,
  transferCall,
} from '../../support/near/payment.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene, tokenId } from './scene.js'

const scene = useScene(openScene)
let payTo: string
let txHash: string

beforeAll(async () => {
  payTo = scene.addMerchant()
  txHash = await scene.pay([transferCall({ to: payTo, amount })])
})
afterEach(() => scene.proxy.clearFaults())

const textOf = (changes: Readonly<Record<string, string>> = {}): string => {
  const lines = { network: 'near:testnet', transaction: txHash, payTo, resource: '', ...changes }
  return ['exact-direct claim', ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`)].join(
    '\n',
  )
}

interface Signing {
  readonly wallet?: NearWallet
  readonly text?: string
  readonly recipient?: string
  readonly nonce?: Uint8Array
  readonly callbackUrl?: string
}

/** Signs with the wallet's NEP-413 implementation of near-api-js. */
const sign = async ({
  wallet = scene.payer,
  text = textOf(),
  recipient = 'exact-direct',
  nonce = createHash('sha256').update(text).digest(),
  callbackUrl,
}: Signing = {}) => {
  const { signature, publicKey } = await wallet.account.signNep413Message({
    message: text,
    recipient,
    nonce: Uint8Array.from(nonce),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  })
  return { signature: Buffer.from(signature).toString('base64'), publicKey: publicKey.toString() }
}

const verify = (claim: unknown) =>
  scene.verify(
    nearBody(
      { asset: tokenId, payTo, amount, extra: { requireSignedClaim: true } },
      { txHash, from: scene.payer.id, ...(claim === undefined ? {} : { claim }) },
    ),
  )

describe('the signed claim on NEAR', () => {
  it('is a message that the wallet signed with a full-access key (NEP-413)', async () => {
    expect(await verify(await sign())).toMatchObject({ isValid: true })
  })

  it('is accepted from any full-access key of the account', async () => {
    const second = addKey('FullAccess')
    expect(await verify(await sign({ wallet: second }))).toMatchObject({ isValid: true })
  })

  it.each([
    ['by a key that may only call a contract', () => sign({ wallet: addKey({ FunctionCall: {} }) })],
    ['by a key of another account', () => sign({ wallet: scene.addPayer('mallory') })],
    ['for another purchase', () => sign({ text: textOf({ resource: 'https://shop.example/other' }) })],
    ['for another recipient of the payment', () => sign({ text: textOf({ payTo: 'mallory.testnet' }) })],
    ['for another transaction', () => sign({ text: textOf({ transaction: 'x' }) })],
    ['for another network', () => sign({ text: textOf({ network: 'near:mainnet' }) })],
    ['for another site', () => sign({ recipient: 'mallory.example' })],
    ['with another nonce', () => sign({ nonce: randomBytes(32) })],
    ['with a callback URL', () => sign({ callbackUrl: 'https://shop.example' })],
    ['without the tag of NEP-413', async () => signPlain()],
  ])('is refused when signed %s', async (_, signing) => {
    expect(await verify(await signing())).toMatchObject({ isValid: false, reason: 'invalid_claim_signature' })
  })

  it.each([
    ['no claim', () => undefined],
    ['no public key', ({ signature }: Signed) => ({ signature })],
    [
      'a key of another curve',
      (signed: Signed) => ({ ...signed, publicKey: signed.publicKey.replace('ed25519', 'secp256k1') }),
    ],
    ['a key that is no base58', (signed: Signed) => ({ ...signed, publicKey: 'ed25519:0OIl' })],
    [
      'a signature in hex',
      ({ signature, publicKey }: Signed) => ({
        signature: Buffer.from(signature, 'base64').toString('hex'),
        publicKey,
      }),
    ],
    [
      'a shorter signature',
      ({ signature, publicKey }: Signed) => ({ signature: signature.slice(4), publicKey }),
    ],
    ['an empty signature', ({ publicKey }: Signed) => ({ signature: '', publicKey })],
    [
      'a key of small order',
      ({ signature }: Signed) => ({ signature, publicKey: `ed25519:${'1'.repeat(32)}` }),
    ],
  ])('is refused with %s', async (_, change) => {
    expect(await verify(change(await sign()))).toMatchObject({ reason: 'invalid_claim_signature' })
  })

  it('is not refused because the node does not answer: it is an outage', async () => {
    const claim = await sign()
    scene.proxy.setFault('query', { kind: 'status', status: 502 })
    expect(await rejectionOf(verify(claim))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('is refused when the account does not exist', async () => {
    scene.proxy.setFault('query', {
      kind: 'rewrite',
      change: ([params]) => [{ ...Object(params), account_id: 'gone.testnet' }],
    })
    expect(await verify(await sign())).toMatchObject({ reason: 'invalid_claim_signature' })
  })
})

type Signed = Awaited<ReturnType<typeof sign>>

/** A wallet whose key belongs to the payer's account too. */
const addKey = (permission: 'FullAccess' | object): NearWallet => {
  const second = createWallet(scene.chain, newAccountId('second'))
  scene.chain.ledger.accounts.get(scene.payer.id)?.keys.set(second.publicKey, { nonce: 0n, permission })
  return second
}

const signPlain = () => {
  const { key, publicKey } = scene.payer
  const { signature } = key.sign(createHash('sha256').update(textOf()).digest())
  return { signature: Buffer.from(signature).toString('base64'), publicKey }
}
