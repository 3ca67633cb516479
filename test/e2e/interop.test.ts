import { createServer, type Server } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { Network } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openShop, type Shop } from '../demo/shop.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { approvePermit2, removePermit2, setUsdcAllowance } from '../support/evm/permit2.js'
import { deployTestToken } from '../support/evm/testTokens.js'
import { createEoa } from '../support/evm/wallets.js'
import { createTestDatabase, useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/*
 * Published packages; only the version 1 server is ours (the packages have none),
 * using their facilitator client.
 */
describe('published x402 clients and servers', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  let service: TestService

  beforeAll(async () => {
    chain = await startLocalChain()
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
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

  describe('by Permit2', () => {
    it.each(['USDC', 'a token without EIP-3009'])(
      'buy from @x402/express with @x402/fetch in %s, and the merchant receives the funds',
      async (what) => {
        const tether = await deployTestToken(chain, 'NoReturnToken')
        const token = what === 'USDC' ? { ...chain, address: chain.token.verifyingContract } : tether
        const open = await startService({
          chain,
          databaseUrl: database.url,
          environment: {
            [`EVM_TOKENS_${chain.chainId}`]: `${chain.token.verifyingContract},${tether.address}`,
          },
        })
        const merchant = randomAddress()
        const draft = {
          scheme: 'exact',
          network: chain.network,
          amount: '1',
          asset: token.address,
          payTo: merchant,
        }
        const completed = await fetch(`${open.url}/accepts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ x402Version: 2, accepts: [draft] }),
        })
        const { accepts } = z
          .object({ accepts: z.tuple([z.object({ extra: z.record(z.string(), z.unknown()) })]) })
          .parse(await completed.json())
        expect(accepts[0].extra.assetTransferMethod).toBe(what === 'USDC' ? undefined : 'permit2')
        const server = new ExactEvmServer().registerMoneyParser(async () => ({
          amount: '10000',
          asset: token.address,
          extra: { assetTransferMethod: 'permit2' },
        }))
        const shop = await openShop({
          port: 0,
          facilitatorUrl: open.url,
          world: { network: 'eip155:84532', merchant, server, signPayment: async () => null },
        })
        try {
          const wallet = createEoa()
          await token.mint(wallet.address, 50_000n)
          await approvePermit2(chain, wallet, token.address)
          const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
            schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(wallet.account) }],
            // The buyer's own setting: by default the client pays in the network's default token only.
            spendControls: { allowedAssets: true },
          })
          const response = await fetchWithPayment(`${shop.url}/report`)
          expect(response.status).toBe(200)
          expect(await response.json()).toHaveProperty('forecast')
          const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
          expect(receipt).toMatchObject({ success: true, payer: wallet.address })
          expect(await token.balanceOf(merchant)).toBe(10_000n)
          expect(await token.balanceOf(wallet.address)).toBe(40_000n)
        } finally {
          await shop.close()
          await open.close()
        }
      },
    )
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

  describe('with another asset transfer method of exact', () => {
    const post = async (path: string, body: unknown, url = service.url): Promise<unknown> => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(200)
      return await response.json()
    }
    const plan = async (extra: Readonly<Record<string, unknown>>) => {
      const customer = await fundPayer()
      const { name, version, verifyingContract: asset } = chain.token
      const requirements = {
        scheme: 'exact',
        network: 'eip155:84532' as const,
        amount: '10000',
        asset,
        payTo: randomAddress(),
        maxTimeoutSeconds: 60,
        extra: { name, version, ...extra },
      }
      const { payload } = await new ExactEvmScheme(customer).createPaymentPayload(2, requirements)
      const body = {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: requirements, payload },
        paymentRequirements: requirements,
      }
      return { body, customer }
    }
    const reason = 'unsupported_asset_transfer_method'

    it('are refused with a sentence that names Permit2 where the chain lacks it or the proxy', async () => {
      const bare = await startLocalChain()
      const bareDatabase = await createTestDatabase()
      await removePermit2(bare.url)
      const other = await startService({ chain: bare, databaseUrl: bareDatabase.url })
      try {
        const { body, customer } = await plan({ assetTransferMethod: 'permit2' })
        expect(body.paymentPayload.payload).toHaveProperty('permit2Authorization')
        const payer = customer.address
        const message = expect.stringContaining("this network lacks Permit2 or x402's proxy for it")
        expect(await post('/verify', body, other.url)).toMatchObject({
          isValid: false,
          invalidReason: reason,
          invalidMessage: message,
          payer,
        })
        expect(await post('/settle', body, other.url)).toMatchObject({
          success: false,
          errorReason: reason,
          errorMessage: message,
          transaction: '',
          payer,
        })
        const { assetTransferMethod: _, ...extra } = Object(body.paymentRequirements.extra)
        const requirements = { ...body.paymentRequirements, extra }
        const foreign = {
          ...body,
          paymentPayload: { ...body.paymentPayload, accepted: requirements },
          paymentRequirements: requirements,
        }
        expect(await post('/verify', foreign, other.url)).toMatchObject({
          isValid: false,
          invalidReason: reason,
          invalidMessage: expect.stringContaining('a Permit2 authorization is not supported'),
          payer,
        })
      } finally {
        await other.close()
        await bareDatabase.drop()
        await bare.stop()
      }
    })

    it('are refused as permit2_allowance_required until the payer has approved Permit2', async () => {
      const { body, customer } = await plan({ assetTransferMethod: 'permit2' })
      expect(await post('/verify', body)).toMatchObject({
        isValid: false,
        invalidReason: 'permit2_allowance_required',
        payer: customer.address,
      })
      await setUsdcAllowance(chain, customer.address)
      expect(await post('/verify', body)).toMatchObject({ isValid: true })
    })

    it('are accepted when the requirements name EIP-3009, and refused for any other name', async () => {
      expect(await post('/verify', (await plan({ assetTransferMethod: 'eip3009' })).body)).toMatchObject({
        isValid: true,
      })
      const { body } = await plan({})
      for (const method of ['erc7710', 'EIP3009', '', 7, {}, 'x'.repeat(10_000), '<script>']) {
        const extra = { ...body.paymentRequirements.extra, assetTransferMethod: method }
        const asked = { ...body, paymentRequirements: { ...body.paymentRequirements, extra } }
        const answer = await post('/verify', asked)
        expect(answer).toMatchObject({ isValid: false, invalidReason: reason })
        expect(JSON.stringify(answer)).not.toContain('script')
        expect(JSON.stringify(answer).length).toBeLessThan(400)
      }
    })

    it('are refused for an ERC-7710 delegation and an EIP-2612 permit', async () => {
      const { body, customer } = await plan({})
      const delegation = {
        delegationManager: randomAddress(),
        permissionContext: '0x',
        delegator: randomAddress(),
      }
      const permit = {
        signature: { v: 27, r: `0x${'11'.repeat(32)}`, s: `0x${'11'.repeat(32)}` },
        authorization: {
          owner: customer.address,
          spender: randomAddress(),
          value: '10000',
          deadline: '1',
          nonce: 0,
        },
      }
      for (const payload of [delegation, permit]) {
        const foreign = { ...body, paymentPayload: { ...body.paymentPayload, payload } }
        expect(await post('/verify', foreign)).toMatchObject({ isValid: false, invalidReason: reason })
        expect(await post('/settle', foreign)).toMatchObject({ success: false, errorReason: reason })
      }
    })

    it('are still refused as invalid_payload_structure when a field of EIP-3009 is missing', async () => {
      const { body } = await plan({})
      const foreign = { ...body, paymentPayload: { ...body.paymentPayload, payload: { signature: '0x11' } } }
      expect(await post('/verify', foreign)).toMatchObject({ invalidReason: 'invalid_payload_structure' })
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
