import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { createResourceServer } from '../createResourceServer.mjs'
import { listen } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

export const openShop = (scene) => {
  const app = express()
  app.use(paymentMiddleware(routesOf(scene.families), createResourceServer(x402ResourceServer, scene)))
  app.get('/{*path}', (_request, response) => response.json(report))
  return listen(app)
}
