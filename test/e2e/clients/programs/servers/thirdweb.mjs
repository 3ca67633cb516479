import { createThirdwebClient, defineChain } from 'thirdweb'
import { facilitator, settlePayment } from 'thirdweb/x402'
import { listenWeb } from '../listen.mjs'
import { price, report } from '../routes.mjs'

export const openShop = ({ facilitatorUrl, families: { evm } }) => {
  const client = createThirdwebClient({ secretKey: 'a-key-of-another-provider' })
  const ours = facilitator({ client, serverWalletAddress: evm.payTo, baseUrl: facilitatorUrl })
  return listenWeb(async (url, { method, headers }) => {
    const { status, responseHeaders, responseBody } = await settlePayment({
      resourceUrl: url,
      method,
      paymentData: headers['payment-signature'] ?? headers['x-payment'],
      payTo: evm.payTo,
      network: defineChain(84532),
      price,
      facilitator: ours,
    })
    return Response.json(status === 200 ? report : responseBody, { status, headers: responseHeaders })
  })
}
