import { createServer } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { UptoEvmScheme as UptoEvmServer } from '@x402/evm/upto/server'
import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from '@x402/express'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import express from 'express'
import type { Address, TypedDataDefinition } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRecipientRouter } from '../../src/chains/evm/contracts/routers.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { setUsdcAllowance } from '../support/evm/permit2.js'
import { uptoPayment } from '../support/evm/upto.js'
import { deployUptoRouter } from '../support/evm/uptoRouter.js'
import {
  createDelegatedEoa,
  createEoa,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const network = 'eip155:84532'
const charge = 2_500n

/**
 * Every way to authorize a payment on EVM, by every kind of account. The clients and the shop are published packages;
 * permits are stand-ins, because no published package signs them for `upto`.
 */
describe('a purchase on EVM', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  let service: TestService
  let router: Address

  beforeAll(async () => {
    chain = await startLocalChain()
    router = await deployUptoRouter(chain)
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })

  const wallets: readonly (readonly [string, () => Promise<PayerWallet>])[] = [
    ['an account', async () => createEoa()],
    ['a contract wallet (EIP-1271)', async () => deployWallet(chain, await createSoladyWallet(chain))],
    ['a delegated account (EIP-7702)', () => createDelegatedEoa(chain, { checksSignatures: true })],
  ]

  /** The shape that the published clients sign with. */
  const signerOf = ({ address, signTypedData }: PayerWallet) => ({
    address,
    signTypedData: (typedData: Record<string, unknown>) =>
      signTypedData(typedData as unknown as TypedDataDefinition),
  })

  const fund = async (wallet: PayerWallet): Promise<void> => {
    await chain.mint(wallet.address, 1_000_000n)
    await setUsdcAllowance(chain, wallet.address)
  }

  interface Offer {
    readonly scheme: 'exact' | 'upto'
    readonly isPermit2: boolean
  }

  /** A shop of @x402/express: exact costs the charge; upto at most ten times as much, of which the charge is used. */
  const openShop = async ({ scheme, isPermit2 }: Offer, payTo: Address) => {
    const server = scheme === 'exact' ? new ExactEvmServer() : new UptoEvmServer()
    const { name, version, verifyingContract } = chain.token
    server.registerMoneyParser(async () => ({
      amount: String(scheme === 'exact' ? charge : charge * 10n),
      asset: verifyingContract,
      extra: { name, version, ...(isPermit2 ? { assetTransferMethod: 'permit2' } : {}) },
    }))
    const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: service.url }))
    resources.register(network, server)
    const app = express()
    app.use(
      paymentMiddleware(
        { 'GET /answer': { accepts: { scheme, price: '$0.01', network, payTo }, description: 'An answer' } },
        resources,
      ),
    )
    app.get('/answer', (_request, response) => {
      if (scheme === 'upto') setSettlementOverrides(response, { amount: String(charge) })
      response.json({ answer: 42 })
    })
    const listening = createServer(app)
    await new Promise<void>((resolve) => {
      listening.listen(0, '127.0.0.1', resolve)
    })
    const address = listening.address()
    if (typeof address !== 'object' || address === null) throw new Error('The shop has no port')
    return {
      url: `http://127.0.0.1:${address.port}/answer`,
      close: () =>
        new Promise<void>((resolve) => {
          listening.close(() => resolve())
          listening.closeAllConnections()
        }),
    }
  }

  const offers: readonly (readonly [string, Offer])[] = [
    ['exact by EIP-3009', { scheme: 'exact', isPermit2: false }],
    ['exact by Permit2', { scheme: 'exact', isPermit2: true }],
    ['upto by Permit2', { scheme: 'upto', isPermit2: true }],
  ]

  describe.each(offers)('%s, with unmodified @x402/fetch, @x402/evm and @x402/express', (_, offer) => {
    it.each(wallets)('is paid by %s', async (_name, create) => {
      const wallet = await create()
      await fund(wallet)
      const merchant = randomAddress()
      const shop = await openShop(offer, merchant)
      try {
        const signer = signerOf(wallet)
        const client = offer.scheme === 'exact' ? new ExactEvmScheme(signer) : new UptoEvmScheme(signer)
        const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] })
        const response = await pay(shop.url)
        expect(response.status).toBe(200)
        const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
        expect(receipt).toMatchObject({ success: true, payer: wallet.address, amount: String(charge) })
        expect(await chain.balanceOf(merchant)).toBe(charge)
      } finally {
        await shop.close()
      }
    })
  })

  describe('upto by a permit, as its specification describes it', () => {
    it.each(wallets)('is paid by %s', async (_name, create) => {
      const wallet = await create()
      await fund(wallet)
      const payTo = randomAddress()
      const body = await uptoPayment({ chain, wallet, router, payTo })
      expect(await post('/verify', body)).toMatchObject({ isValid: true, payer: wallet.address })
      const settled = await post('/settle', { ...body, settleAmount: String(charge) })
      expect(settled).toMatchObject({ success: true, settledAmount: String(charge), maxAmount: '10000' })
      expect(await chain.balanceOf(payTo)).toBe(charge)
    })
  })

  const post = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return await response.json()
  }

  it('finds the router of its recipient in POST /accepts and GET /v1/router', async () => {
    const payTo = randomAddress()
    const asset = chain.token.verifyingContract
    const draft = { scheme: 'upto', network, maxAmount: '10000', asset, payTo }
    const routerAddress = findRecipientRouter(router, payTo)
    const facilitatorAddress = router
    expect(await post('/accepts', { x402Version: 2, accepts: [draft] })).toMatchObject({
      accepts: [{ maxAmount: '10000', extra: { routerAddress, facilitatorAddress, name: chain.token.name } }],
    })
    const response = await fetch(`${service.url}/v1/router?network=${network}&payTo=${payTo}`)
    expect(await response.json()).toMatchObject({ routerAddress, isDeployed: false })
  })

  it('without a charge succeeds, and nothing is sent', async () => {
    const wallet = createEoa()
    await fund(wallet)
    const kinds = await new HTTPFacilitatorClient({ url: service.url }).getSupported()
    const kind = kinds.kinds.find(({ scheme }) => scheme === 'upto')
    const { name, version, verifyingContract } = chain.token
    const required: PaymentRequirements = {
      scheme: 'upto',
      network,
      amount: '10000',
      asset: verifyingContract,
      payTo: randomAddress(),
      maxTimeoutSeconds: 300,
      extra: { name, version, assetTransferMethod: 'permit2', ...kind?.extra },
    }
    const created = await new UptoEvmScheme(signerOf(wallet)).createPaymentPayload(2, required)
    const paymentPayload = { ...created, accepted: required, resource: { url: 'https://merchant.example/' } }
    const settled = await post('/settle', {
      paymentPayload,
      paymentRequirements: { ...required, amount: '0' },
    })
    expect(settled).toMatchObject({ success: true, transaction: '', amount: '0' })
    expect(await chain.balanceOf(wallet.address)).toBe(1_000_000n)
  })
})
