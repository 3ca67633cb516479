import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { createResourceServer } from '../createResourceServer.mjs'
import { listenWeb } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

export const openShop = (scene) => {
  const app = new Hono()
  app.use(paymentMiddleware(routesOf(scene.families), createResourceServer(x402ResourceServer, scene)))
  app.get('*', (context) => context.json(report))
  return listenWeb((url, init) => app.request(url, init))
}
