import { HTTPFacilitatorClient } from '@x402/core/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { createResourceServer } from '../createResourceServer.mjs'
import { listen } from '../listen.mjs'
import { acceptsOf, report } from '../routes.mjs'

/** Settles before it serves, and never verifies. */
export const openShop = (scene) => {
  const facilitator = new HTTPFacilitatorClient({ url: scene.facilitatorUrl })
  facilitator.verify = () => Promise.reject(new Error('a server of the flow upfront asks to verify'))
  const routes = Object.fromEntries(
    Object.entries(scene.families).map(([family, terms]) => [
      `GET /${family}`,
      { accepts: { ...acceptsOf(terms), extra: { paymentFlow: 'upfront' } }, description: 'Weather' },
    ]),
  )
  const app = express()
  app.use(paymentMiddleware(routes, createResourceServer(x402ResourceServer, scene, facilitator)))
  app.get('/{*path}', (_request, response) => response.json(report))
  return listen(app)
}
