import { x402Client, x402HTTPClient } from '@payai/x402/client'
import { createSchemes } from '../createSchemes.mjs'
import { payOnce } from '../payOnce.mjs'

export const createBuyer = async ({ families }) => {
  const client = new x402Client()
  for (const { network, client: scheme, x402Version } of await createSchemes(families)) {
    if (x402Version === 1) client.registerV1(network, scheme)
    else client.register(network, scheme)
  }
  return payOnce(new x402HTTPClient(client))
}
