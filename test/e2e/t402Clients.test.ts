import { type Address, beginCell, Cell, external, storeMessage } from '@ton/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalNetwork } from '../../src/protocol/network.js'
import {
  type SettleResult,
  settleResult,
  supported,
  type VerifyResult,
  verifyResult,
} from '../../src/protocol/results.js'
import { nileEnvironment } from '../chains/tron/openScheme.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type T402Client, type T402Requirements, writeT402Request } from '../support/t402/client.js'
import { createT402TonClient } from '../support/t402/tonClient.js'
import { createT402TronClient } from '../support/t402/tronClient.js'
import { fundRelayWallets, tonEnvironment } from '../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../support/ton/tonChain.js'
import { randomAddress } from '../support/ton/wallets.js'
import { createTronKey } from '../support/tron/keys.js'
import { startTronChain, type TronChain } from '../support/tron/tronChain.js'

/*
 * Clients that npm does not serve: stand-ins send their published form, copies with the client's own clock included.
 */

let tron: TronChain
let ton: TonChain
let token: string
let database: TestDatabase
let service: TestService

beforeAll(async () => {
  const started = await Promise.all([
    startTronChain({ blockTimeMs: 40 }),
    startTonChain(),
    createTestDatabase(),
  ])
  tron = started[0]
  ton = started[1]
  database = started[2]
  token = await tron.deploy('TetherTrc20')
  await fundRelayWallets(ton)
  service = await startService({
    databaseUrl: database.url,
    environment: {
      ...nileEnvironment(tron.url, token),
      ...tonEnvironment(ton),
    },
  })
})
afterAll(async () => {
  await service.close()
  await Promise.all([tron.stop(), ton.stop()])
  await database.drop()
})

const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, replayed: response.headers.get('x-idempotency-replayed'), response }
}

const verify = async (body: unknown): Promise<VerifyResult> => {
  const { status, response } = await post('/verify', body)
  expect(status).toBe(200)
  return verifyResult.parse(await response.json())
}

const settle = async (body: unknown): Promise<SettleResult> => {
  const { status, response } = await post('/settle', body)
  expect(status).toBe(200)
  return settleResult.parse(await response.json())
}

const listAnnounced = async (network: string) => {
  const { kinds } = supported.parse(await (await fetch(`${service.url}/supported`)).json())
  return kinds.filter((kind) => canonicalNetwork(kind.network) === network)
}

type Request = Awaited<ReturnType<typeof writeT402Request>>

const withPayload = (body: Request, change: object): Request => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: { ...body.paymentPayload.payload, ...change } },
})

const withCopy = (body: Request, change: object): Request =>
  withPayload(body, { authorization: { ...Object(body.paymentPayload.payload.authorization), ...change } })

const requirementsOf = (given: Pick<T402Requirements, 'network' | 'asset' | 'payTo'>): T402Requirements => ({
  scheme: 'exact',
  amount: '10000',
  maxTimeoutSeconds: 300,
  extra: {},
  ...given,
})

describe('the TRON client of t402', () => {
  const plan = async (signer: 'hex' | 'json' | 'object' = 'hex', network = 'tron:nile') => {
    const payer = createTronKey()
    const payTo = createTronKey().address
    tron.fund(payer.address, 100_000_000)
    await tron.mint(token, payer.address, 25_000n)
    const create = (form: typeof signer): T402Client =>
      createT402TronClient({ chain: tron, payer, signer: form })
    const requirements = requirementsOf({ network, asset: token, payTo })
    const body = await writeT402Request(create(signer), requirements)
    return { body, payer, payTo }
  }
  const received = (payTo: string): Promise<bigint> => tron.balanceOf(token, payTo)

  /** One signed transaction, as JSON object, as JSON text and as hex. */
  const planForms = async () => {
    const { body, payTo } = await plan('object')
    const signed = Object(body.paymentPayload.payload.signedTransaction)
    const form = (signedTransaction: unknown) => withPayload(body, { signedTransaction })
    const raw = String(signed.raw_data_hex)
    const length = raw.length / 2
    const head = Buffer.from([0x0a, (length & 0x7f) | 0x80, length >> 7]).toString('hex')
    const hex = `${head}${raw}1241${String(signed.signature[0]).toLowerCase()}`
    return { payTo, signed, form, object: body, json: form(JSON.stringify(signed)), hex: form(hex) }
  }

  it.each(['hex', 'json', 'object'] as const)(
    'pays with a transaction as %s, whatever times and block its copy names',
    async (signer) => {
      const { body, payer, payTo } = await plan(signer)
      expect(await verify(body)).toEqual({ isValid: true, payer: payer.address })
      expect(await settle(body)).toMatchObject({ success: true, network: 'tron:nile', payer: payer.address })
      expect(await received(payTo)).toBe(10_000n)
    },
  )

  it.each<[string, () => string]>([
    ['from', () => createTronKey().address],
    ['to', () => createTronKey().address],
    ['contractAddress', () => createTronKey().address],
    ['amount', () => '10001'],
  ])('is refused when its copy names another %s', async (field, value) => {
    const { body, payTo } = await plan('json')
    const lie = withCopy(body, { [field]: value() })
    const reason = 'transaction_verification_failed'
    expect(await verify(lie)).toMatchObject({
      isValid: false,
      invalidReason: reason,
      invalidMessage: expect.stringContaining(`payload.authorization.${field}`),
    })
    expect(await settle(lie)).toMatchObject({ success: false, errorReason: reason })
    expect(await received(payTo)).toBe(0n)
  })

  it('is judged by raw_data_hex and signature alone: txID and raw_data may say anything', async () => {
    const { signed, form, payTo } = await planForms()
    const { signed: other } = await planForms()
    const lying = form({ ...signed, txID: other.txID, raw_data: other.raw_data, visible: 'yes' })
    const { success, transaction } = await settle(lying)
    expect({ success, transaction }).toEqual({ success: true, transaction: signed.txID })
    expect(await received(payTo)).toBe(10_000n)
  })

  it('is refused with the raw_data_hex of another payment under its own signature and txID', async () => {
    const { signed, form, payTo } = await planForms()
    const { signed: other } = await planForms()
    const lying = form({ ...signed, raw_data_hex: other.raw_data_hex })
    expect(await verify(lying)).toMatchObject({ isValid: false })
    expect(await settle(lying)).toMatchObject({ success: false })
    expect(await received(payTo)).toBe(0n)
  })

  it('earns one success for one transaction in its three forms, whichever come at once', async () => {
    const { object, json, hex, payTo } = await planForms()
    const answers = await Promise.all([object, json, hex].map(settle))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    for (const form of [object, json, hex]) {
      expect(await settle(form)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    }
    expect(await received(payTo)).toBe(10_000n)
  })

  it('is one request to an Idempotency-Key, whichever form carries it', async () => {
    const { object, json, hex } = await planForms()
    const headers = { 'idempotency-key': `forms-${Date.now()}` }
    const first = settleResult.parse(await (await post('/settle', json, headers)).response.json())
    expect(first).toMatchObject({ success: true })
    for (const form of [object, hex]) {
      const { status, replayed, response } = await post('/settle', form, headers)
      expect({ status, replayed }).toEqual({ status: 200, replayed: 'true' })
      expect(await response.json()).toEqual(first)
    }
  })

  it.each<[string, (signed: Readonly<Record<string, unknown>>) => unknown]>([
    ['without raw_data_hex', ({ raw_data_hex: _, ...rest }) => rest],
    ['without a signature', (signed) => ({ ...signed, signature: [] })],
    ['with a signature that is no hex', (signed) => ({ ...signed, signature: ['zz'.repeat(65)] })],
    ['with raw_data_hex of 40 kB', (signed) => ({ ...signed, raw_data_hex: 'ab'.repeat(20_000) })],
    ['with 500 signatures', (signed) => ({ ...signed, signature: Array(500).fill('ab') })],
    ['as JSON text of 20 kB', (signed) => JSON.stringify({ ...signed, raw_data: 'x'.repeat(20_000) })],
    ['as JSON text that is cut off', (signed) => JSON.stringify(signed).slice(0, -1)],
    ['as deeply nested JSON text', () => `{"raw_data":${'['.repeat(16_000)}`],
    ['as an array', (signed) => [signed]],
  ])('is refused %s', async (_title, change) => {
    const { signed, form, payTo } = await planForms()
    const body = form(change(signed))
    const refusal = { isValid: false, invalidReason: expect.stringMatching(/invalid_payload_structure|hex/) }
    expect(await verify(body)).toMatchObject(refusal)
    expect(await settle(body)).toMatchObject({ success: false, transaction: '' })
    expect(await received(payTo)).toBe(0n)
  })

  it('pays under every announced name, and is answered under that name', async () => {
    const announced = (await listAnnounced('tron:nile')).map(({ network }) => network)
    expect(announced).toEqual(['tron:nile', 'tron:0xcd8690dc'])
    for (const network of announced) {
      const { body } = await plan('json', network)
      expect(await settle(body)).toMatchObject({ success: true, network })
    }
  })
})

interface TonPlan {
  readonly kind?: 'v3r2' | 'v4r2' | 'v5r1'
  readonly isDeployed?: boolean
  readonly network?: string
}

describe('the TON client of t402', () => {
  const plan = async (
    signer: 'external' | 'body' = 'external',
    { kind = 'v4r2', isDeployed = true, network = 'ton:testnet' }: TonPlan = {},
  ) => {
    const wallet = await ton.createPayer({ kind, isDeployed })
    const payTo = randomAddress()
    const client = createT402TonClient({ chain: ton, wallet, signer })
    const requirements = requirementsOf({
      network,
      asset: ton.token.master.toString(),
      payTo: payTo.toString(),
    })
    const body = await writeT402Request(client, requirements)
    return { body, wallet, payTo }
  }
  const boxed = (body: Request) => String(body.paymentPayload.payload.signedBoc)

  it('pays although its wallet signed another validUntil than its copy names', async () => {
    const { body, payTo } = await plan()
    expect(await verify(body)).toMatchObject({ isValid: true })
    expect(await settle(body)).toMatchObject({ success: true, network: 'ton:testnet' })
    expect(await ton.token.balanceOf(payTo)).toBe(10_000n)
  })

  it('pays under every announced name, and is answered under that name', async () => {
    const announced = await listAnnounced('ton:testnet')
    const names = announced.map(({ network }) => network)
    expect(names.toSorted()).toEqual(['ton-testnet', 'ton:-3', 'ton:testnet', 'tvm:-3'])
    for (const { network, x402Version } of announced) {
      const { body } = await plan('external', { network })
      const { paymentPayload, paymentRequirements } = body
      const { amount, ...terms } = paymentRequirements
      const version1 = {
        paymentPayload: { t402Version: 1, scheme: 'exact', network, payload: paymentPayload.payload },
        paymentRequirements: { ...terms, maxAmountRequired: amount },
      }
      expect(await settle(x402Version === 1 ? version1 : body)).toMatchObject({ success: true, network })
    }
  })

  it.each(['v3r2', 'v4r2', 'v5r1'] as const)(
    'pays with the bare signed body of a %s wallet',
    async (kind) => {
      const { body, wallet, payTo } = await plan('body', { kind })
      const payer = wallet.address.toRawString()
      expect(await verify(body)).toEqual({ isValid: true, payer })
      expect(await settle(body)).toMatchObject({ success: true, payer })
      expect(await ton.token.balanceOf(payTo)).toBe(10_000n)
    },
  )

  it.each<[string, () => string]>([
    ['from', () => randomAddress().toString()],
    ['to', () => randomAddress().toString()],
    ['jettonMaster', () => randomAddress().toString()],
    ['jettonAmount', () => '10001'],
  ])('is refused when its copy names another %s', async (field, value) => {
    for (const signer of ['external', 'body'] as const) {
      const { body, payTo } = await plan(signer)
      const lie = withCopy(body, { [field]: value() })
      expect(await verify(lie)).toMatchObject({ isValid: false })
      expect(await settle(lie)).toMatchObject({ success: false, transaction: '' })
      expect(await ton.token.balanceOf(payTo)).toBe(0n)
    }
  })

  it('is refused when it names the wallet of another payer for a bare body', async () => {
    const { body, payTo } = await plan('body')
    const victim = await ton.createPayer({ kind: 'v4r2' })
    const stolen = withCopy(body, { from: victim.address.toString() })
    expect(await verify(stolen)).toMatchObject({
      isValid: false,
      invalidReason: 'message_verification_failed',
    })
    expect(await settle(stolen)).toMatchObject({ success: false })
    expect(await ton.token.balanceOf(payTo)).toBe(0n)
  })

  it('is refused as invalid_sender_address when a bare body comes with no wallet address', async () => {
    const { body } = await plan('body')
    expect(await verify(withCopy(body, { from: 'no address' }))).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_sender_address',
    })
  })

  it('is refused as wallet_not_deployed with the bare body of an undeployed wallet', async () => {
    const { body } = await plan('body', { kind: 'v5r1', isDeployed: false })
    expect(await verify(body)).toMatchObject({ isValid: false, invalidReason: 'wallet_not_deployed' })
  })

  it('earns one success for one signed body, bare and wrapped', async () => {
    const { body, wallet, payTo } = await plan('body')
    const wrapped = withPayload(body, { signedBoc: wrap(wallet.address, boxed(body)) })
    const answers = await Promise.all([body, wrapped, body].map(settle))
    const [paid, ...more] = answers.filter(({ success }) => success)
    expect(more).toEqual([])
    const duplicate = { errorReason: 'duplicate_settlement', transaction: paid?.transaction }
    for (const form of [body, wrapped]) expect(await settle(form)).toMatchObject(duplicate)
    expect(await ton.token.balanceOf(payTo)).toBe(10_000n)
  })
})

const wrap = (to: Address, boc: string): string => {
  const message = external({ to, body: Cell.fromBase64(boc) })
  return beginCell().store(storeMessage(message)).endCell().toBoc().toString('base64')
}
