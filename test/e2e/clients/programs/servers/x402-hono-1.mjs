import { Hono } from 'hono'
import { paymentMiddleware } from 'x402-hono'
import { listenWeb } from '../listen.mjs'
import { price, report } from '../routes.mjs'

export const openShop = ({ facilitatorUrl, families }) => {
  const app = new Hono()
  for (const [family, { name, payTo }] of Object.entries(families)) {
    const routes = { [`GET /${family}`]: { price, network: name, config: { description: 'Weather' } } }
    app.use(paymentMiddleware(payTo, routes, { url: facilitatorUrl }))
  }
  app.get('*', (context) => context.json(report))
  return listenWeb((url, init) => app.request(url, init))
}
