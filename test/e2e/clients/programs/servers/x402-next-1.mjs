import { createRequire } from 'node:module'
import { listenWeb } from '../listen.mjs'
import { price, report } from '../routes.mjs'

// Next.js bundles; Node.js alone resolves `next/server` only for CommonJS.
const require = createRequire(import.meta.url)

export const openShop = ({ facilitatorUrl, families }) => {
  const { withX402 } = require('x402-next')
  const { NextRequest, NextResponse } = require('next/server')
  const routes = new Map(
    Object.entries(families).map(([family, { name, payTo }]) => {
      const terms = { price, network: name, config: { description: 'Weather' } }
      const handler = async () => NextResponse.json(report)
      return [`/${family}`, withX402(handler, payTo, terms, { url: facilitatorUrl })]
    }),
  )
  return listenWeb((url, init) => routes.get(new URL(url).pathname)(new NextRequest(url, init)))
}
