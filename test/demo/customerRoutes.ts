import express, { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { paymentRequirements } from './paymentRequirements.js'
import type { DemoWorld } from './world.js'

const price = 10_000n
const faucetAmount = 5_000_000n

const signingRequest = z.object({ x402Version: z.int(), requirements: paymentRequirements })

/** The customer's wallet and a faucet: worthless keys of a local chain, on loopback only. */
export const createCustomerRoutes = (world: DemoWorld): Router => {
  const router = Router()
  router.get('/customer', async (_request, response) => {
    const { network, symbol, customer: address, wallet } = world
    if ((await world.balanceOf(address)) < price) await world.fund(address, faucetAmount)
    const balance = (await world.balanceOf(address)).toString()
    response.json({ network, symbol, address, balance, wallet })
  })
  router.post('/customer/sign', express.json(), async (request: Request, response: Response) => {
    const { x402Version, requirements } = signingRequest.parse(request.body)
    response.json(await world.client.createPaymentPayload(x402Version, requirements))
  })
  router.post('/faucet', async (request, response) => {
    const address = String(request.query.address ?? world.customer)
    try {
      await world.fund(address, faucetAmount)
      const balance = (await world.balanceOf(address)).toString()
      response.json({ address, added: faucetAmount.toString(), balance })
    } catch {
      response.status(400).json({ error: `address must be an address of ${world.network}` })
    }
  })
  return router
}
