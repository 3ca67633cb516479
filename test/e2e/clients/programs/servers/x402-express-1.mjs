import express from 'express'
import { paymentMiddleware } from 'x402-express'
import { listen } from '../listen.mjs'
import { price, report } from '../routes.mjs'

export const openShop = ({ facilitatorUrl, families }) => {
  const app = express()
  for (const [family, { name, payTo }] of Object.entries(families)) {
    const routes = { [`GET /${family}`]: { price, network: name, config: { description: 'Weather' } } }
    app.use(paymentMiddleware(payTo, routes, { url: facilitatorUrl }))
  }
  app.get('/{*path}', (_request, response) => response.json(report))
  return listen(app)
}
