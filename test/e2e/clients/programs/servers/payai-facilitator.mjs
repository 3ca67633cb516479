import { facilitator } from '@payai/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { createResourceServer } from '../createResourceServer.mjs'
import { listen } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

/** Has its provider's credentials in the environment, so that every request carries a JSON Web Token. */
export const openShop = async (scene) => {
  const { privateKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const secret = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
  Object.assign(process.env, { PAYAI_API_KEY_ID: 'merchant', PAYAI_API_KEY_SECRET: secret })
  const app = express()
  const client = new HTTPFacilitatorClient(facilitator)
  app.use(
    paymentMiddleware(routesOf(scene.families), createResourceServer(x402ResourceServer, scene, client)),
  )
  app.get('/{*path}', (_request, response) => response.json(report))
  return listen(app)
}
