import { createServer } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import type { DemoWorld } from './world.js'

interface ShopOptions {
  readonly port: number
  readonly facilitatorUrl: string
  readonly world: Pick<DemoWorld, 'network' | 'merchant' | 'server' | 'signPayment' | 'signUpto'>
  /** Of the shop's account at the facilitator. Absent: it calls without a key. */
  readonly apiKey?: string
  /** What the demo serves besides. */
  readonly routers?: readonly Router[]
}

export interface Shop {
  readonly url: string
  close(): Promise<void>
}

/** A resource server built from the protocol's packages: one report for one cent. */
export const openShop = async (options: ShopOptions): Promise<Shop> => {
  const { port, facilitatorUrl, world, apiKey, routers = [] } = options
  const app = express()
  app.get('/sign', async ({ query: { scheme = 'exact', settleAmount } }, response) => {
    if (scheme === 'exact') response.json(await world.signPayment())
    else if (scheme === 'upto' && world.signUpto !== undefined) {
      const charged = typeof settleAmount === 'string' ? { settleAmount } : {}
      response.json({ ...(await world.signUpto()), ...charged })
    } else {
      const schemes = world.signUpto === undefined ? 'exact' : 'exact or upto'
      response.status(400).json({ error: `scheme must be ${schemes} on ${world.network}` })
    }
  })
  for (const router of routers) app.use(router)
  const resourceServer = new x402ResourceServer(
    new HTTPFacilitatorClient({
      url: facilitatorUrl,
      ...(apiKey === undefined ? {} : { createAuthHeaders: async () => authorize(apiKey) }),
    }),
  )
  resourceServer.register(world.network, world.server)
  app.use(showRequirements)
  app.use(
    paymentMiddleware(
      {
        'GET /report': {
          accepts: {
            scheme: world.server.scheme,
            price: '$0.01',
            network: world.network,
            payTo: world.merchant,
          },
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

const authorize = (apiKey: string) => {
  const headers = { Authorization: `Bearer ${apiKey}` }
  return { verify: headers, settle: headers, supported: headers }
}

/** The published middleware answers 402 with an empty body: the demo shows what its header says. */
const showRequirements = (_request: Request, response: Response, next: NextFunction): void => {
  const send = response.json.bind(response)
  response.json = (body: unknown) => {
    const header = response.getHeader('PAYMENT-REQUIRED')
    const isUnpaid = response.statusCode === 402 && typeof header === 'string'
    return send(isUnpaid ? JSON.parse(Buffer.from(header, 'base64').toString('utf8')) : body)
  }
  next()
}
