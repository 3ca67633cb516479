import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { ExactSvmScheme } from '@x402/svm/exact/server'

const schemes = { evm: ExactEvmScheme, solana: ExactSvmScheme }

/** Registers the schemes of the families; `ResourceServer` is the class of the tested package. */
export const createResourceServer = (ResourceServer, { facilitatorUrl, families }, facilitator) => {
  const client = facilitator ?? new HTTPFacilitatorClient({ url: facilitatorUrl })
  const server = new ResourceServer(client)
  for (const [family, { network }] of Object.entries(families))
    server.register(network, new schemes[family]())
  return server
}
