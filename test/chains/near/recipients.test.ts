import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleResult, verifyResult } from '../../../src/protocol/results.js'
import { type NearChain, startNearChain } from '../../support/near/nearChain.js'
import {
  createWallet,
  type NearWallet,
  nearBody,
  newAccountId,
  send,
  transferCall,
} from '../../support/near/payment.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { startService, type TestService } from '../../support/service.js'
import { amount, nearEnvironment, type TokenContract, tokenId } from './scene.js'

const network = 'near:testnet'

let chain: NearChain
let token: TokenContract
let database: TestDatabase
let service: TestService
/** Of the same database. */
let sibling: TestService
let keyed: TestService
let configured: TestService
/** A recipient of the configuration. */
let listed: NearWallet

const start = (environment: Readonly<Record<string, string>> = {}) =>
  startService({
    databaseUrl: database.url,
    environment: { ...nearEnvironment(chain.url), REGISTRATION: 'open', ...environment },
  })

beforeAll(async () => {
  chain = await startNearChain()
  token = chain.addToken(tokenId)
  database = await createTestDatabase()
  listed = createShop()
  service = await start()
  sibling = await start()
  keyed = await start({ EXACT_DIRECT_CLAIMS: 'keyed' })
  configured = await start({
    EXACT_DIRECT_RECIPIENTS: `${network}:${listed.id}=signedClaim`,
  })
})
afterAll(async () => {
  await Promise.all([service, sibling, keyed, configured].map((each) => each?.close()))
  await database.drop()
  await chain.stop()
})

const createShop = (): NearWallet => {
  const shop = createWallet(chain, newAccountId('shop'))
  token.mint(shop.id, 0n)
  return shop
}

interface Call {
  readonly body?: object
  readonly key?: string
  readonly at?: TestService
  readonly method?: 'GET' | 'POST' | 'DELETE'
}

const call = async (path: string, { body, key, at = service, method = 'POST' }: Call) => {
  const response = await fetch(`${at.url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, answer: z.looseObject({}).parse(await response.json()) }
}

const register = async (): Promise<string> => {
  const body = { email: `${randomUUID()}@example.com`, projectName: 'Shop' }
  const { answer } = await call('/register', { body })
  return z.object({ apiKey: z.string() }).parse(answer).apiKey
}

/** As a wallet signs messages: NEP-413. */
const sign = async (wallet: NearWallet, text: string) => {
  const { signature, publicKey } = await wallet.account.signNep413Message({
    message: text,
    recipient: 'exact-direct',
    nonce: Uint8Array.from(createHash('sha256').update(text).digest()),
  })
  return { signature: Buffer.from(signature).toString('base64'), publicKey: publicKey.toString() }
}

type Claims = Readonly<Record<string, boolean>>

interface Stating {
  readonly key: string
  readonly claims: Claims
  /** Who signs; default: the shop itself. */
  readonly signer?: NearWallet
  readonly at?: TestService
}

const prepareStatement = async (shop: NearWallet, { key, claims, signer = shop, at = service }: Stating) => {
  const draft = { network, payTo: shop.id, claims }
  const { answer } = await call('/dashboard/recipients/message', { body: draft, key, at })
  const { message, nonce } = z.object({ message: z.string(), nonce: z.string() }).parse(answer)
  return { ...draft, nonce, ...(await sign(signer, message)) }
}

const state = async (shop: NearWallet, stating: Stating) => {
  const { key, at = service } = stating
  return await call('/dashboard/recipients', { body: await prepareStatement(shop, stating), key, at })
}

/** Alice pays the price to the shop. */
const pay = async (shop: NearWallet, changes: { readonly amount?: bigint; readonly memo?: string } = {}) => {
  const alice = createWallet(chain, newAccountId('alice'))
  token.mint(alice.id, 1_000_000n)
  const transfer = { to: shop.id, amount, ...changes }
  return { alice, txHash: await send(alice, tokenId, [transferCall(transfer)]) }
}

type Paid = Awaited<ReturnType<typeof pay>>

interface BodyChanges {
  readonly amount?: bigint
  readonly claim?: unknown
  readonly extra?: Readonly<Record<string, unknown>>
}

const bodyOf = (shop: NearWallet, { alice, txHash }: Paid, { claim, ...terms }: BodyChanges = {}) =>
  nearBody(
    { asset: tokenId, payTo: shop.id, amount, ...terms },
    { txHash, from: alice.id, ...(claim === undefined ? {} : { claim }) },
  )

const offers = z.object({
  accepts: z.tuple([z.object({ amount: z.string(), extra: z.record(z.string(), z.unknown()) })]),
})

/** What the shop puts into a 402 answer for one client. */
const offer = async (shop: NearWallet, key?: string) => {
  const entry = { scheme: 'exact-direct', network, asset: tokenId, payTo: shop.id, amount: `${amount}` }
  const { answer } = await call('/accepts', {
    body: { accepts: [entry] },
    ...(key === undefined ? {} : { key }),
  })
  const [{ amount: offered, extra }] = offers.parse(answer).accepts
  const { memo } = z.object({ memo: z.string().default('') }).parse(extra)
  return { amount: BigInt(offered), extra, memo }
}

/** What a stranger sends who watches the chain: the least amount, no memo, no claim, and a resource of its own. */
const strangerBody = (shop: NearWallet, { alice, txHash }: Paid) => {
  const body = nearBody({ asset: tokenId, payTo: shop.id, amount: 1n }, { txHash, from: alice.id })
  const resource = { url: 'https://mallory.example/free' }
  return { ...body, paymentPayload: { ...body.paymentPayload, resource } }
}

const settle = async (body: object, options: Omit<Call, 'body' | 'method'> = {}) =>
  settleResult.parse((await call('/settle', { body, ...options })).answer)

const verify = async (body: object, options: Omit<Call, 'body' | 'method'> = {}) =>
  verifyResult.parse((await call('/verify', { body, ...options })).answer)

const claimOf = (shop: NearWallet, { alice, txHash }: Paid) =>
  sign(
    alice,
    [
      'exact-direct claim',
      `network: ${network}`,
      `transaction: ${txHash}`,
      `payTo: ${shop.id}`,
      'resource: ',
    ].join('\n'),
  )

describe('a payment that a stranger saw on chain', () => {
  it('is claimed by no stranger once the recipient has stated that claims are signed', async () => {
    const [shop, key, strangerKey] = [createShop(), await register(), await register()]
    expect(await state(shop, { key, claims: { signedClaim: true } })).toMatchObject({ status: 200 })
    const paid = await pay(shop)
    for (const attempt of [{}, { key: strangerKey }, { at: sibling }]) {
      expect(await verify(strangerBody(shop, paid), attempt)).toMatchObject({ isValid: false })
      expect(await settle(strangerBody(shop, paid), attempt)).toMatchObject({
        success: false,
        errorReason: 'invalid_claim_signature',
        retryable: false,
      })
    }
    const claim = await claimOf(shop, paid)
    expect(await settle(bodyOf(shop, paid, { claim }), { key })).toMatchObject({ success: true })
  })

  it('is claimed by no other account once the recipient has stated that its own key claims', async () => {
    const [shop, key, strangerKey] = [createShop(), await register(), await register()]
    await state(shop, { key, claims: { ownKey: true } })
    const paid = await pay(shop)
    for (const attempt of [{}, { key: strangerKey }, { at: sibling }]) {
      expect(await verify(strangerBody(shop, paid), attempt)).toMatchObject({
        invalidReason: 'claim_not_permitted',
      })
      expect(await settle(strangerBody(shop, paid), attempt)).toMatchObject({
        errorReason: 'claim_not_permitted',
        retryable: false,
      })
    }
    expect(await verify(bodyOf(shop, paid), { key })).toMatchObject({ isValid: true })
    expect(await settle(bodyOf(shop, paid), { key })).toMatchObject({ success: true })
  })

  it('is claimed by no stranger who reads its memo on chain once claims show the preimage', async () => {
    const [shop, key, strangerKey] = [createShop(), await register(), await register()]
    await state(shop, { key, claims: { memo: true } })
    const { extra, memo } = await offer(shop)
    const paid = await pay(shop, { memo })
    const others = await offer(shop)
    for (const shown of [{}, { memo }, { memo: others.memo }, others.extra]) {
      expect(await settle(bodyOf(shop, paid, { extra: shown }), { key: strangerKey })).toMatchObject({
        errorReason: 'memo_mismatch',
        retryable: false,
      })
    }
    expect(await settle(strangerBody(shop, paid))).toMatchObject({ errorReason: 'memo_mismatch' })
    expect(await settle(bodyOf(shop, paid, { extra }), { key })).toMatchObject({ success: true })
  })

  it('is claimed by no stranger who reads its amount on chain once amounts are unique', async () => {
    const [shop, key, strangerKey] = [createShop(), await register(), await register()]
    await state(shop, { key, claims: { uniqueAmount: true } })
    const { amount: unique, extra } = await offer(shop, key)
    expect(unique - amount).toBeGreaterThan(0n)
    expect(unique - amount).toBeLessThan(10_000n)
    const paid = await pay(shop, { amount: unique })
    // The shop offers the stranger the same price.
    const others = await offer(shop, key)
    const claim = (terms: BodyChanges) => settle(bodyOf(shop, paid, terms), { key: strangerKey })
    for (const unknown of [
      { amount: 1n },
      { amount: unique },
      { amount: unique, extra: others.extra },
      { amount: unique - 1n, extra },
      { amount: 1n, extra },
    ]) {
      expect(await claim(unknown)).toMatchObject({ errorReason: 'offer_unknown', retryable: false })
    }
    expect(await claim(others)).toMatchObject({
      errorReason: others.amount < unique ? 'amount_mismatch' : 'insufficient_amount',
      retryable: false,
    })
    expect(await verify(strangerBody(shop, paid))).toMatchObject({ invalidReason: 'offer_unknown' })
    expect(await settle(bodyOf(shop, paid, { amount: unique, extra }), { key })).toMatchObject({
      success: true,
      amount: `${unique}`,
    })
  })

  it('pays no unique amount with more, nor with a transfer from before the offer', async () => {
    const [shop, key] = [createShop(), await register()]
    await state(shop, { key, claims: { uniqueAmount: true } })
    const terms = await offer(shop, key)
    const more = await pay(shop, { amount: terms.amount + 1n })
    expect(await settle(bodyOf(shop, more, terms), { key })).toMatchObject({ errorReason: 'amount_mismatch' })
    const paid = await pay(shop, { amount: terms.amount })
    // As if the amount had been issued a minute after the transfer.
    await database
      .pool()
      .query(`update unique_amounts set issued_at = issued_at + interval '1 minute' where pay_to = $1`, [
        shop.id,
      ])
    expect(await settle(bodyOf(shop, paid, terms), { key })).toMatchObject({
      errorReason: 'transaction_too_old',
    })
  })

  it('can be claimed by a stranger without a statement, and the refusal of its payer says so', async () => {
    const shop = createShop()
    const paid = await pay(shop)
    expect(await settle(strangerBody(shop, paid))).toMatchObject({ success: true })
    const message = /^Another caller claimed this transaction/
    const key = await register()
    expect(await settle(bodyOf(shop, paid), { key })).toMatchObject({
      errorReason: 'duplicate_settlement',
      errorMessage: expect.stringMatching(message),
      retryable: false,
    })
    expect(await verify(bodyOf(shop, paid))).toMatchObject({
      invalidReason: 'duplicate_settlement',
      invalidMessage: expect.stringMatching(message),
      retryable: false,
    })
  })

  it('needs a key to be claimed under EXACT_DIRECT_CLAIMS=keyed, and none to be verified', async () => {
    const [shop, key] = [createShop(), await register()]
    const paid = await pay(shop)
    expect(await verify(strangerBody(shop, paid), { at: keyed })).toMatchObject({ isValid: true })
    expect(await settle(strangerBody(shop, paid), { at: keyed })).toMatchObject({
      errorReason: 'claim_not_permitted',
      retryable: false,
    })
    expect(await settle(bodyOf(shop, paid), { at: keyed, key })).toMatchObject({ success: true })
  })

  it('is bound by the configuration of the operator, which no account can replace', async () => {
    const key = await register()
    const paid = await pay(listed)
    expect(await settle(strangerBody(listed, paid), { at: configured })).toMatchObject({
      errorReason: 'invalid_claim_signature',
    })
    expect(await state(listed, { key, claims: { ownKey: true }, at: configured })).toMatchObject({
      status: 403,
    })
    const claim = await claimOf(listed, paid)
    expect(await settle(bodyOf(listed, paid, { claim }), { at: configured })).toMatchObject({
      success: true,
    })
  })
})

describe('a statement for a recipient', () => {
  const claims = { ownKey: true }

  it('is listed, replaced by whichever account the wallet signs for, and deleted by that account only', async () => {
    const [shop, first, second] = [createShop(), await register(), await register()]
    const list = async (key: string) =>
      (await call('/dashboard/recipients', { key, method: 'GET' })).answer.recipients
    const path = `/dashboard/recipients?${new URLSearchParams({ network, payTo: shop.id })}`
    await state(shop, { key: first, claims })
    expect(await list(first)).toMatchObject([
      { network, payTo: shop.id, claims: { ownKey: true, memo: false, signedClaim: false } },
    ])
    await state(shop, { key: second, claims: { signedClaim: true } })
    expect(await list(first)).toEqual([])
    expect(await list(second)).toMatchObject([{ claims: { ownKey: false, signedClaim: true } }])
    expect(await call(path, { key: first, method: 'DELETE' })).toMatchObject({ status: 404 })
    expect(await call(path, { key: second, method: 'DELETE' })).toMatchObject({
      status: 200,
      answer: { deleted: true },
    })
    expect(await list(second)).toEqual([])
    const { answer } = await call('/dashboard/audit', { key: second, method: 'GET' })
    expect(answer.entries).toMatchObject([
      { action: 'recipient.deleted' },
      { action: 'recipient.stated', details: { payTo: shop.id } },
      {},
    ])
  })

  it('takes the signature of the wallet, over this statement, for this account, once', async () => {
    const [shop, key, otherKey] = [createShop(), await register(), await register()]
    const mallory = createShop()
    const post = (body: object, as = key) => call('/dashboard/recipients', { body, key: as })
    const refused = (reason: string) => ({ status: 401, answer: { code: 'SIGN_IN_FAILED', reason } })
    const signed = await prepareStatement(shop, { key, claims })
    expect(await state(shop, { key, claims, signer: mallory })).toMatchObject(
      refused('siwx_signature_invalid'),
    )
    expect(await post({ ...signed, claims: { memo: true } })).toMatchObject(refused('siwx_signature_invalid'))
    expect(await post({ ...signed, payTo: mallory.id })).toMatchObject(refused('siwx_signature_invalid'))
    expect(await post(signed, otherKey)).toMatchObject(refused('siwx_nonce_unknown'))
    expect(await post({ ...signed, nonce: '0'.repeat(64) })).toMatchObject(refused('siwx_nonce_unknown'))
    expect(await post(signed)).toMatchObject({ status: 200 })
    expect(await post(signed)).toMatchObject(refused('siwx_nonce_used'))
  })

  it.each([
    ['without a demand', { network, claims: {} }, 'claims: at least one demand must be true'],
    [
      'for another network',
      { network: 'eip155:8453', claims },
      'network: this instance serves no exact-direct there',
    ],
    [
      'for no address',
      { network, payTo: 'NOT AN ACCOUNT', claims },
      'payTo: must be an address of the network',
    ],
  ])('is refused %s', async (_, body, message) => {
    const key = await register()
    expect(
      await call('/dashboard/recipients/message', { key, body: { payTo: 'shop.testnet', ...body } }),
    ).toMatchObject({ status: 400, answer: { message } })
  })

  it('is in the requirements that /accepts completes: clients sign the claim', async () => {
    const [shop, key] = [createShop(), await register()]
    await state(shop, { key, claims: { signedClaim: true } })
    const entry = { scheme: 'exact-direct', network, payTo: shop.id, amount: '1' }
    const { answer } = await call('/accepts', {
      body: { accepts: [{ ...entry, extra: { requireSignedClaim: false } }] },
    })
    expect(answer.accepts).toMatchObject([{ extra: { requireSignedClaim: true } }])
  })

  it('reserves unique amounts for requests of the project that stated it', async () => {
    const [shop, key, strangerKey] = [createShop(), await register(), await register()]
    await state(shop, { key, claims: { uniqueAmount: true } })
    const body = { accepts: [{ scheme: 'exact-direct', network, payTo: shop.id, amount: '10000' }] }
    for (const attempt of [{}, { key: strangerKey }]) {
      expect(await call('/accepts', { body, ...attempt })).toMatchObject({ status: 403 })
    }
    const { rows } = await database.pool().query('select 1 from unique_amounts where pay_to = $1', [shop.id])
    expect(rows).toEqual([])
  })

  it('puts the memo into the requirements of an intent', async () => {
    const [shop, key] = [createShop(), await register()]
    const payer = createShop()
    token.mint(payer.id, 1_000_000n)
    await state(shop, { key, claims: { memo: true } })
    const terms = {
      payer: payer.id,
      payee: shop.id,
      amount: '10000',
      asset: 'USDC',
      sourceNetworks: [network],
    }
    const created = z
      .object({
        intent: z.object({ id: z.string() }),
        availableRoutes: z.tuple([z.object({ id: z.string() })]),
      })
      .parse((await call('/v1/intent', { body: terms, key })).answer)
    const path = `/v1/intent/${created.intent.id}`
    const routeId = created.availableRoutes[0].id
    const select = async () =>
      z
        .object({
          paymentRequirements: z.looseObject({
            extra: z.looseObject({ memo: z.string(), memoPreimage: z.string() }),
          }),
        })
        .parse((await call(`${path}/route`, { body: { routeId }, key })).answer).paymentRequirements
    const requirements = await select()
    // The payer may already have sent the transfer.
    expect(await select()).toEqual(requirements)
    const txHash = await send(payer, tokenId, [
      transferCall({ to: shop.id, amount, memo: requirements.extra.memo }),
    ])
    const payload = { txHash, from: payer.id, to: shop.id, amount: `${amount}` }
    const body = { paymentPayload: { x402Version: 2, accepted: requirements, payload } }
    expect((await call(`${path}/execute`, { body, key })).answer).toMatchObject({ status: 'completed' })
  })

  it('keeps intents of others from offering a route that could not be executed', async () => {
    const [shop, key] = [createShop(), await register()]
    const payer = createShop()
    token.mint(payer.id, 1_000_000n)
    await state(shop, { key, claims })
    const body = {
      payer: payer.id,
      payee: shop.id,
      amount: '10000',
      asset: 'USDC',
      sourceNetworks: [network],
    }
    const unavailable = [{ reason: 'claim_not_permitted' }]
    expect((await call('/v1/intent', { body })).answer).toMatchObject({
      availableRoutes: [],
      unavailable,
    })
    expect((await call('/v1/intent', { body, key })).answer).toMatchObject({
      availableRoutes: [{ scheme: 'exact-direct' }],
    })
  })
})

it('starts only with addresses of their networks in EXACT_DIRECT_RECIPIENTS', async () => {
  await expect(start({ EXACT_DIRECT_RECIPIENTS: `${network}:NO!=memo` })).rejects.toThrow(
    `EXACT_DIRECT_RECIPIENTS: NO! is not an address of ${network}`,
  )
})
