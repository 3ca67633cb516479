import { createRequire } from 'node:module'
import { createResourceServer } from '../createResourceServer.mjs'
import { listenWeb } from '../listen.mjs'
import { acceptsOf, report } from '../routes.mjs'

// Next.js bundles; Node.js alone resolves `next/server` only for CommonJS.
const require = createRequire(import.meta.url)

export const openShop = (scene) => {
  const { withX402, x402ResourceServer } = require('@x402/next')
  const { NextRequest, NextResponse } = require('next/server')
  const server = createResourceServer(x402ResourceServer, scene)
  const routes = new Map(
    Object.entries(scene.families).map(([family, terms]) => [
      `/${family}`,
      withX402(
        async () => NextResponse.json(report),
        { accepts: acceptsOf(terms), description: 'Weather' },
        server,
      ),
    ]),
  )
  return listenWeb((url, init) => routes.get(new URL(url).pathname)(new NextRequest(url, init)))
}
