import { createServer } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'

/** What the shop sells, to whom the money goes, and who settles it. */
export interface ShopOptions {
  readonly port: number
  readonly facilitatorUrl: string
  readonly network: `${string}:${string}`
  readonly payTo: string
  /** Answers a signed payment, for people who want to call the facilitator themselves. */
  readonly signPayment: () => Promise<unknown>
}

/** A running shop. */
export interface Shop {
  readonly url: string
  close(): Promise<void>
}

/** A resource server built from the protocol's own packages: one report for one cent. */
export const openShop = async (options: ShopOptions): Promise<Shop> => {
  const app = express()
  app.get('/sign', async (_request, response) => {
    response.json(await options.signPayment())
  })
  const resourceServer = new x402ResourceServer(new HTTPFacilitatorClient({ url: options.facilitatorUrl }))
  resourceServer.register(options.network, new ExactEvmScheme())
  app.use(
    paymentMiddleware(
      {
        'GET /report': {
          accepts: { scheme: 'exact', price: '$0.01', network: options.network, payTo: options.payTo },
          description: 'Tomorrow’s weather',
          mimeType: 'application/json',
        },
      },
      resourceServer,
    ),
  )
  app.get('/report', (_request, response) => {
    response.json({ forecast: 'Sunny, with a chance of micropayments' })
  })

  const server = createServer(app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
