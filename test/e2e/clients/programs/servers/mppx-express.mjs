import express from 'express'
import { evm, Mppx } from 'mppx/express'
import { listen } from '../listen.mjs'
import { report } from '../routes.mjs'

process.env.MPP_SECRET_KEY = 'signs challenges with thirty-two bytes or more'

/** Takes the method `evm` with the intent `charge` of the Machine Payments Protocol, and x402 in version 2. */
export const openShop = ({ facilitatorUrl, families }) => {
  const { payTo } = families.evm
  const app = express()
  // The page shows this block.
  const { USDC } = evm.assets.baseSepolia
  const mppx = Mppx.create({
    methods: [evm.charge({ currency: USDC, recipient: payTo, x402: { facilitator: facilitatorUrl } })],
    secretKey: process.env.MPP_SECRET_KEY,
  })
  app.get('/evm', mppx.charge({ amount: '0.01' }), (_request, response) => response.json(report))

  return listen(app)
}
