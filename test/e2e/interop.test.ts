import { createServer, type Server } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { Network } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openShop, type Shop } from '../demo/shop.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/*
 * Published packages; only the version 1 server is ours (the packages have none),
 * using their facilitator client.
 */
describe('published x402 clients and servers', () => {
  let chain: LocalChain
  let database: TestDatabase
  let service: TestService

  beforeAll(async () => {
    chain = await startLocalChain()
    database = await createTestDatabase()
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
    await chain.stop()
  })

  const fundPayer = async () => {
    const customer = privateKeyToAccount(generatePrivateKey())
    await chain.mint(customer.address, 1_000_000n)
    return customer
  }

  describe('in version 2', () => {
    const merchant = randomAddress()
    let shop: Shop

    beforeAll(async () => {
      shop = await openShop({
        port: 0,
        facilitatorUrl: service.url,
        world: {
          network: 'eip155:84532',
          merchant,
          server: new ExactEvmServer(),
          signPayment: async () => null,
        },
      })
    })
    afterAll(() => shop.close())

    it('buy from @x402/express with @x402/fetch, and the merchant receives the funds', async () => {
      const customer = await fundPayer()
      const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(customer) }],
      })
      const response = await fetchWithPayment(`${shop.url}/report`)
      expect(response.status).toBe(200)
      expect(await response.json()).toHaveProperty('forecast')
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(receipt).toMatchObject({ success: true, network: 'eip155:84532', payer: customer.address })
      expect(await chain.balanceOf(merchant)).toBe(10_000n)
      expect(await chain.balanceOf(customer.address)).toBe(990_000n)
    })

    it('do not get the resource without funds', async () => {
      const pauper = privateKeyToAccount(generatePrivateKey())
      const before = await chain.balanceOf(merchant)
      const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(pauper) }],
      })
      const response = await fetchWithPayment(`${shop.url}/report`)
      expect(response.status).toBe(402)
      expect(await chain.balanceOf(merchant)).toBe(before)
    })
  })

  describe('in version 1', () => {
    // The published network type requires a colon, which version 1 names do not have.
    const oldName: Network = JSON.parse('"base-sepolia"')
    const merchant = randomAddress()
    let server: Server
    let url: string

    beforeAll(async () => {
      const facilitator = new HTTPFacilitatorClient({ url: service.url })
      const requirements = {
        scheme: 'exact',
        network: 'base-sepolia' as const,
        maxAmountRequired: '20000',
        resource: 'http://shop.example/old',
        description: 'An old report',
        mimeType: 'application/json',
        payTo: merchant,
        maxTimeoutSeconds: 60,
        asset: chain.token.verifyingContract,
        extra: { name: chain.token.name, version: chain.token.version },
      }
      server = createServer(async (request, response) => {
        const header = request.headers['x-payment']
        const refuse = (error: string) => {
          response.writeHead(402, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ x402Version: 1, error, accepts: [requirements] }))
        }
        if (typeof header !== 'string') return refuse('X-PAYMENT header is required')
        const payload = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
        // The published types cover version 2 only; the wire format is version 1.
        const wire = JSON.parse(JSON.stringify(requirements))
        const { isValid, invalidReason } = await facilitator.verify(payload, wire)
        if (!isValid) return refuse(invalidReason ?? 'invalid')
        const settled = await facilitator.settle(payload, wire)
        if (!settled.success) return refuse(settled.errorReason ?? 'not settled')
        response.writeHead(200, {
          'content-type': 'application/json',
          'x-payment-response': Buffer.from(JSON.stringify(settled)).toString('base64'),
        })
        response.end(JSON.stringify({ old: 'report' }))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const address = server.address()
      url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/old`
    })
    afterAll(() => new Promise((resolve) => server.close(resolve)))

    it('buy with the short network name, which is repeated in X-PAYMENT-RESPONSE', async () => {
      const customer = await fundPayer()
      const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network: oldName, client: new ExactEvmSchemeV1(customer), x402Version: 1 }],
      })
      const response = await fetchWithPayment(url)
      expect(response.status).toBe(200)
      const receipt = decodePaymentResponseHeader(response.headers.get('X-PAYMENT-RESPONSE') ?? '')
      expect(receipt).toMatchObject({ success: true, network: 'base-sepolia', payer: customer.address })
      expect(await chain.balanceOf(merchant)).toBe(20_000n)
    })
  })

  it('parse /supported with their strict schema, in both versions', async () => {
    const { kinds, signers } = await new HTTPFacilitatorClient({ url: service.url }).getSupported()
    expect(kinds).toContainEqual(
      expect.objectContaining({ x402Version: 2, scheme: 'exact', network: 'eip155:84532' }),
    )
    expect(kinds).toContainEqual(
      expect.objectContaining({ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }),
    )
    expect(signers['eip155:*']).toEqual(chain.facilitators.map(({ address }) => address))
  })
})
