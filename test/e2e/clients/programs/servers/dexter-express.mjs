import { x402Middleware } from '@dexterai/x402/server'
import express from 'express'
import { listen } from '../listen.mjs'
import { report } from '../routes.mjs'

export const openShop = ({ facilitatorUrl, families }) => {
  const app = express()
  for (const [family, { network, asset, payTo }] of Object.entries(families)) {
    const path = `/${family}`
    // The page shows this block.
    const token = { address: asset, decimals: 6 }
    const pay = x402Middleware({ facilitatorUrl, network, asset: token, payTo, amount: '0.01' })
    app.get(path, pay, (_request, response) => response.json(report))
  }
  return listen(app)
}
