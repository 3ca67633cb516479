import { ExactEvmScheme } from '@x402/evm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { DemoWorld } from '../demo/world.js'
import { openSolanaWorld } from '../demo/worlds/solana.js'
import { openTonWorld } from '../demo/worlds/ton.js'
import { openTronWorld } from '../demo/worlds/tron.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/* Requests exactly as @faremeter/middleware 0.22 and thirdweb 5.121 write them, and what they require of answers. */

const requirements = z.strictObject({
  scheme: z.string(),
  network: z.string(),
  amount: z.string().regex(/^[0-9]+$/),
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.int(),
  extra: z.record(z.string(), z.unknown()),
})

/** `x402PaymentRequiredResponse` of @faremeter/types. */
const faremeterAnswer = z.looseObject({
  x402Version: z.literal(2),
  resource: z.looseObject({ url: z.string() }),
  accepts: z.array(requirements),
})

/** `RequestedPaymentRequirementsSchema` of thirdweb, which is version 1 with any network name. */
const thirdwebAnswer = z.looseObject({
  x402Version: z.int(),
  accepts: z.array(
    z.looseObject({
      scheme: z.literal('exact'),
      network: z.string(),
      maxAmountRequired: z.string().regex(/^[0-9]+$/),
      resource: z.url(),
      description: z.string(),
      mimeType: z.string(),
      payTo: z.string(),
      maxTimeoutSeconds: z.int(),
      asset: z.string(),
      extra: z.record(z.string(), z.unknown()),
    }),
  ),
})

let chain: LocalChain
let others: readonly DemoWorld[]
const database = useTestDatabase()
let service: TestService

beforeAll(async () => {
  chain = await startLocalChain()
  others = await Promise.all([openSolanaWorld(), openTonWorld(), openTronWorld()])
  const environment = Object.assign({}, ...others.map((world) => world.environment))
  service = await startService({ chain, databaseUrl: database.url, environment })
})
afterAll(async () => {
  await service.close()
  await Promise.all(others.map((world) => world.close()))
  await chain.stop()
})

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

const resource = { url: 'https://shop.example/report' }
const payTo = randomAddress()
const usdc = () => chain.token.verifyingContract
const domain = () => ({ name: chain.token.name, version: chain.token.version })

describe('POST /accepts with requirements', () => {
  const complete = (accepts: readonly object[], x402Version = 2) =>
    post('/accepts', { x402Version, resource, accepts })
  const draft = (change: object = {}) => ({
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '10000',
    asset: usdc(),
    payTo,
    maxTimeoutSeconds: 60,
    ...change,
  })

  it('returns them complete with 200, and they can be paid', async () => {
    const { status, json } = await complete([draft()])
    expect(status).toBe(200)
    const { accepts } = faremeterAnswer.parse(json)
    expect(accepts).toEqual([{ ...draft(), extra: domain() }])
    const [accepted] = accepts
    const customer = privateKeyToAccount(generatePrivateKey())
    await chain.mint(customer.address, 1_000_000n)
    const terms = { ...draft(), network: 'eip155:84532' as const, extra: accepted?.extra ?? {} }
    const { payload } = await new ExactEvmScheme(customer).createPaymentPayload(2, terms)
    // Faremeter sends no version at the top level.
    const settled = await post('/settle', {
      paymentRequirements: accepted,
      paymentPayload: { x402Version: 2, accepted, payload },
    })
    expect(settled.json).toMatchObject({ success: true })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('fills in scheme, asset and timeout', async () => {
    const { json } = await complete([{ network: 'eip155:84532', amount: '7', payTo }])
    expect(faremeterAnswer.parse(json).accepts).toEqual([
      draft({ amount: '7', maxTimeoutSeconds: 300, extra: domain() }),
    ])
  })

  it('keeps what the caller put into extra, but not a wrong domain', async () => {
    const { json } = await complete([draft({ extra: { name: 'Gold', orderId: 7 } })])
    expect(faremeterAnswer.parse(json).accepts[0]?.extra).toEqual({ orderId: 7, ...domain() })
  })

  it('returns the extra that each family needs, under the network name of the caller', async () => {
    const names = { 'ton:testnet': 'tvm:-3', 'tron:nile': 'tron:0xcd8690dc' }
    for (const { network, merchant } of others) {
      const name = Object.entries(names).find(([canonical]) => canonical === network)?.[1] ?? network
      const { json } = await complete([{ network: name, amount: '7', payTo: merchant }])
      const [accepted] = faremeterAnswer.parse(json).accepts
      expect(accepted).toMatchObject({ scheme: 'exact', network: name, amount: '7', payTo: merchant })
      const keys = Object.keys(accepted?.extra ?? {})
      if (network.startsWith('solana:')) expect(keys).toContain('feePayer')
      if (network.startsWith('ton:')) expect(keys).toContain('responseDestination')
    }
  })

  it('answers version 1 in its own fields and short names', async () => {
    const { maxTimeoutSeconds, ...given } = draft({ network: 'base-sepolia', maxAmountRequired: '10000' })
    const { amount: _, ...old } = { ...given, description: 'A report' }
    const { status, json } = await complete([old], 1)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      x402Version: 1,
      accepts: [
        {
          network: 'base-sepolia',
          maxAmountRequired: '10000',
          resource: resource.url,
          description: 'A report',
          mimeType: '',
          extra: domain(),
        },
      ],
    })
    expect(maxTimeoutSeconds).toBe(60)
  })

  it('leaves out what cannot be settled, and refuses with 400 if nothing is left', async () => {
    const foreign = [
      draft({ network: 'eip155:1' }),
      draft({ scheme: 'auth-capture' }),
      draft({ asset: randomAddress() }),
      draft({ network: 'near:mainnet', asset: 'usdc.near', payTo: 'shop.near' }),
    ]
    const { json } = await complete([...foreign, draft()])
    expect(faremeterAnswer.parse(json).accepts).toHaveLength(1)
    const refused = await complete(foreign)
    expect(refused).toMatchObject({ status: 400, json: { code: 'INVALID_REQUEST' } })
  })

  it.each<[string, object, string]>([
    ['no amount', { amount: undefined }, 'amount'],
    ['a negative amount', { amount: '-1' }, 'amount'],
    ['amounts that differ', { maxAmountRequired: '1' }, 'maxAmountRequired'],
    ['no payTo', { payTo: undefined }, 'payTo'],
    ['a payTo of another family', { payTo: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }, 'payTo'],
    ['no network', { network: undefined }, 'network'],
  ])('refuses %s with 400', async (_title, change) => {
    expect(await complete([draft(change)])).toMatchObject({
      status: 400,
      json: { code: 'INVALID_REQUEST' },
    })
  })

  it('refuses a body of neither dialect with a sentence that names both', async () => {
    for (const body of [
      {},
      { resourceUrl: resource.url },
      { accepts: 'all', ...{ resourceUrl: resource.url, network: 'base', price: '1' } },
    ]) {
      expect(await post('/accepts', body)).toMatchObject({
        status: 400,
        json: {
          message: 'The body must have accepts, or resourceUrl, network and price, each of the right form',
        },
      })
    }
    // A price beside requirements is not read.
    const both = { x402Version: 2, resource, accepts: [draft()], price: {}, resourceUrl: 7 }
    expect(await post('/accepts', both)).toMatchObject({ status: 200 })
  })

  it('takes at most 20 entries, and at least one', async () => {
    for (const count of [0, 21]) {
      expect(await complete(Array.from({ length: count }, () => draft()))).toMatchObject({ status: 400 })
    }
  })
})

describe('POST /accepts with a price', () => {
  const request = (change: object = {}) => ({
    resourceUrl: resource.url,
    method: 'GET',
    network: 'eip155:84532',
    price: '$0.01',
    serverWalletAddress: randomAddress(),
    recipientAddress: payTo,
    x402Version: 2,
    ...change,
  })

  it('returns the body of a 402, which thirdweb’s client pays and its server settles', async () => {
    const { status, json } = await post('/accepts', request())
    expect(status).toBe(402)
    const [selected] = thirdwebAnswer.parse(json).accepts
    expect(selected).toMatchObject({
      scheme: 'exact',
      network: 'eip155:84532',
      maxAmountRequired: '10000',
      asset: usdc(),
      payTo,
      resource: resource.url,
      extra: { ...domain(), primaryType: 'TransferWithAuthorization' },
    })
    const customer = privateKeyToAccount(generatePrivateKey())
    await chain.mint(customer.address, 1_000_000n)
    const terms = { ...selected, amount: '10000' }
    const { payload } = await new ExactEvmScheme(customer).createPaymentPayload(2, {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '10000',
      asset: usdc(),
      payTo,
      maxTimeoutSeconds: 60,
      extra: terms.extra ?? {},
    })
    const payment = {
      x402Version: 2,
      scheme: 'exact',
      network: 'eip155:84532',
      accepted: selected,
      resource,
      payload,
    }
    const body = { x402Version: 2, paymentPayload: payment, paymentRequirements: selected }
    expect((await post('/verify', body)).json).toEqual({ isValid: true, payer: customer.address })
    expect((await post('/settle', { ...body, waitUntil: 'confirmed' })).json).toMatchObject({ success: true })
  })

  it.each<[unknown, string]>([
    ['0.25', '250000'],
    [0.25, '250000'],
    ['$12', '12000000'],
    ['$0.0000010', '1'],
  ])('reads %j as %s units of the first token', async (price, units) => {
    const { json } = await post('/accepts', request({ price }))
    expect(thirdwebAnswer.parse(json).accepts[0]?.maxAmountRequired).toBe(units)
  })

  it('takes an amount of a token', async () => {
    const price = { amount: '77', asset: { address: usdc(), decimals: 6 } }
    const { json } = await post('/accepts', request({ price }))
    expect(thirdwebAnswer.parse(json).accepts[0]).toMatchObject({ maxAmountRequired: '77', asset: usdc() })
  })

  it('repeats description, media type, timeout and metadata, and pays the server wallet without a recipient', async () => {
    const wallet = randomAddress()
    const routeConfig = { description: 'A report', mimeType: 'text/csv', maxTimeoutSeconds: 90 }
    const change = {
      recipientAddress: undefined,
      serverWalletAddress: wallet,
      routeConfig,
      extraMetadata: { a: 1 },
    }
    const { json } = await post('/accepts', request(change))
    expect(thirdwebAnswer.parse(json).accepts[0]).toMatchObject({
      payTo: wallet,
      ...routeConfig,
      extra: { a: 1, ...domain() },
    })
  })

  it.each<[string, object]>([
    ['no price', { price: undefined }],
    ['a price of nothing', { price: '$0' }],
    ['a negative price', { price: -1 }],
    ['a price in exponent form', { price: '1e3' }],
    ['a price below the smallest unit', { price: '$0.0000001' }],
    ['a hexadecimal price', { price: '0x10' }],
    ['another currency', { price: '€1' }],
    ['an unknown network', { network: 'eip155:1' }],
    ['an unknown token', { price: { amount: '1', asset: { address: randomAddress() } } }],
    ['a scheme that is not offered', { scheme: 'auth-capture' }],
    ['a malformed recipient', { recipientAddress: 'bob' }],
    ['no payee at all', { recipientAddress: undefined, serverWalletAddress: undefined }],
  ])('refuses %s with 400', async (_title, change) => {
    expect(await post('/accepts', request(change))).toMatchObject({
      status: 400,
      json: { code: 'INVALID_REQUEST' },
    })
  })
})

describe('the kinds of EVM networks', () => {
  it('name the domain of the first token, in both versions', async () => {
    const { kinds } = z
      .object({ kinds: z.array(z.looseObject({ network: z.string() })) })
      .parse(await (await fetch(`${service.url}/supported`)).json())
    for (const network of ['eip155:84532', 'base-sepolia']) {
      expect(kinds).toContainEqual(
        expect.objectContaining({ network, extra: expect.objectContaining(domain()) }),
      )
    }
  })
})
