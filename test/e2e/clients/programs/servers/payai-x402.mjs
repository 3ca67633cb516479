import { HTTPFacilitatorClient, x402HTTPResourceServer, x402ResourceServer } from '@payai/x402/server'
import { createResourceServer } from '../createResourceServer.mjs'
import { listenWeb } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

/** The package has no adapter for a framework: this is the flow that adapters share. */
export const openShop = async (scene) => {
  const client = new HTTPFacilitatorClient({ url: scene.facilitatorUrl })
  const server = new x402HTTPResourceServer(
    createResourceServer(x402ResourceServer, scene, client),
    routesOf(scene.families),
  )
  await server.initialize()
  return listenWeb(async (url, { method, headers }) => {
    const { pathname: path } = new URL(url)
    const getHeader = (name) => headers[name.toLowerCase()]
    const adapter = {
      getHeader,
      getMethod: () => method,
      getPath: () => path,
      getUrl: () => url,
      getAcceptHeader: () => headers.accept ?? '',
      getUserAgent: () => headers['user-agent'] ?? '',
    }
    const paymentHeader = getHeader('payment-signature') ?? getHeader('x-payment')
    const result = await server.processHTTPRequest({ adapter, path, method, paymentHeader })
    if (result.type === 'payment-error') {
      const { status, headers: answered, body } = result.response
      return Response.json(body ?? {}, { status, headers: answered })
    }
    const settled = await server.processSettlement(result.paymentPayload, result.paymentRequirements)
    return settled.success
      ? Response.json(report, { headers: settled.headers })
      : Response.json(settled, { status: 402, headers: settled.headers })
  })
}
