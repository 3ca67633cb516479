import { HTTPFacilitatorClient } from '@x402/core/server'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { listen } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

/** Sells for vouchers; what it charged is claimed and paid out afterwards. */
export const openShop = async ({ facilitatorUrl, families: { evm } }) => {
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl })
  const receiverAuthorizerSigner = privateKeyToAccount(generatePrivateKey())
  const scheme = new BatchSettlementEvmScheme(evm.payTo, { receiverAuthorizerSigner })
  const server = new x402ResourceServer(facilitator).register(evm.network, scheme)
  const manager = scheme.createChannelManager(facilitator, evm.network, evm.asset)

  const app = express()
  app.use(paymentMiddleware(routesOf({ evm }, 'batch-settlement'), server))
  app.get('/{*path}', (_request, response) => response.json(report))
  return { ...(await listen(app)), collect: () => manager.claimAndSettle() }
}
