import { createServer } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import type { DemoWorld } from './world.js'

interface ShopOptions {
  readonly port: number
  readonly facilitatorUrl: string
  readonly world: Pick<DemoWorld, 'network' | 'merchant' | 'server' | 'signPayment'>
}

export interface Shop {
  readonly url: string
  close(): Promise<void>
}

/** A resource server built from the protocol's packages: one report for one cent. */
export const openShop = async ({ port, facilitatorUrl, world }: ShopOptions): Promise<Shop> => {
  const app = express()
  app.get('/sign', async (_request, response) => {
    response.json(await world.signPayment())
  })
  const resourceServer = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
  resourceServer.register(world.network, world.server)
  app.use(
    paymentMiddleware(
      {
        'GET /report': {
          accepts: { scheme: 'exact', price: '$0.01', network: world.network, payTo: world.merchant },
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
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
