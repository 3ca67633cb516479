import { createServer } from 'node:http'
import { x402Client } from '@x402/core/client'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { bazaarResourceServerExtension, declareDiscoveryExtension, withBazaar } from '@x402/extensions/bazaar'
import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  paymentIdentifierResourceServerExtension,
} from '@x402/extensions/payment-identifier'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import express from 'express'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/* Published packages, unmodified, against the sandbox: client and resource server run each extension through it. */

const network = 'eip155:84532'

const database = useTestDatabase({ isSandbox: true })
let service: TestService
beforeAll(async () => {
  service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
})
afterAll(() => service.close())

type Extensions = Readonly<Record<string, unknown>>

/** @x402/express with the extensions that the published package declares. */
const openShop = async (extensions: Extensions) => {
  const app = express()
  const facilitator = new HTTPFacilitatorClient({ url: service.url })
  const resourceServer = new x402ResourceServer(facilitator)
  resourceServer.register(network, new ExactEvmServer())
  resourceServer.registerExtension(bazaarResourceServerExtension)
  resourceServer.registerExtension(paymentIdentifierResourceServerExtension)
  const payTo = privateKeyToAccount(generatePrivateKey()).address
  app.use(
    paymentMiddleware(
      {
        'GET /weather': {
          accepts: { scheme: 'exact', price: '$0.01', network, payTo },
          description: 'The weather of a city',
          mimeType: 'application/json',
          extensions,
        },
      },
      resourceServer,
    ),
  )
  app.get('/weather', (_request, response) => {
    response.json({ weather: 'sunny' })
  })
  const server = await listenOnLoopback(createServer(app))
  return { payTo, url: `${server.url}/weather`, close: server.stop }
}

const openClient = (change: (extensions: Record<string, unknown>) => void = () => undefined) => {
  const client = new x402Client()
  client.register(network, new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
  client.onBeforePaymentCreation(async ({ paymentRequired }) => {
    change(paymentRequired.extensions ?? {})
  })
  return wrapFetchWithPayment(fetch, client)
}

describe('published clients and servers', () => {
  it('buy a resource that declares bazaar, and an agent finds it', async () => {
    const shop = await openShop({
      ...declareDiscoveryExtension({
        input: { city: 'Ljubljana' },
        inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
        output: { example: { weather: 'sunny' } },
      }),
    })
    try {
      const response = await openClient()(`${shop.url}?city=Ljubljana`)
      expect(response.status).toBe(200)
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(receipt).toMatchObject({ success: true })
      const agent = withBazaar(new HTTPFacilitatorClient({ url: service.url }))
      const listed = await pollUntil(async () => {
        const page = await agent.extensions.bazaar.listResources({ payTo: shop.payTo })
        return page.items.length > 0 ? page : null
      }, 'the resource to be listed')
      expect(listed.items).toMatchObject([
        {
          resource: shop.url,
          type: 'http',
          description: 'The weather of a city',
          accepts: [{ network, payTo: shop.payTo, amount: '10000' }],
        },
      ])
      const found = await agent.extensions.bazaar.search({ query: 'weather city' })
      expect(found.resources.map(({ resource }) => resource)).toContain(shop.url)
    } finally {
      await shop.close()
    }
  })

  it('buy with a payment identifier, and without one where it is required they do not', async () => {
    const shop = await openShop({ 'payment-identifier': declarePaymentIdentifierExtension(true) })
    try {
      const paid = await openClient((extensions) => {
        appendPaymentIdentifierToExtensions(extensions)
      })(shop.url)
      expect(paid.status).toBe(200)
      const unpaid = await openClient()(shop.url)
      expect(unpaid.status).toBe(402)
    } finally {
      await shop.close()
    }
  })

  it('read in /supported what the facilitator does', async () => {
    const { extensions } = await new HTTPFacilitatorClient({ url: service.url }).getSupported()
    expect(extensions).toEqual(
      expect.arrayContaining(['bazaar', 'payment-identifier', 'paymentId', 'sign-in-with-x', 'siwx']),
    )
  })
})
