import { createRequire } from 'node:module'
import { listenWeb } from '../listen.mjs'
import { acceptsOf, report } from '../routes.mjs'

// Next.js bundles; Node.js alone resolves `next/server` only for CommonJS.
const require = createRequire(import.meta.url)

export const openShop = ({ facilitatorUrl, families }) => {
  const { withT402 } = require('@t402/next')
  const { HTTPFacilitatorClient, t402ResourceServer } = require('@t402/core/server')
  const { NextRequest, NextResponse } = require('next/server')
  const schemes = {
    evm: () => new (require('@t402/evm/exact/server').ExactEvmScheme)(),
    solana: () => new (require('@t402/svm/exact/server').ExactSvmScheme)(),
  }
  const server = new t402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
  for (const [family, { network }] of Object.entries(families)) server.register(network, schemes[family]())
  const routes = new Map(
    Object.entries(families).map(([family, terms]) => [
      `/${family}`,
      withT402(
        async () => NextResponse.json(report),
        { accepts: acceptsOf(terms), description: 'Weather' },
        server,
      ),
    ]),
  )
  return listenWeb((url, init) => routes.get(new URL(url).pathname)(new NextRequest(url, init)))
}
