import { X402PaymentHandler } from 'x402-solana/server'
import { listenWeb } from '../listen.mjs'
import { amount, report } from '../routes.mjs'

/** The package has no adapter for a framework, and leaves the headers of version 2 to the server. */
export const openShop = ({ facilitatorUrl, families }) => {
  const { name: network, asset, payTo } = families.solana
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64')
  // The page shows this block.
  const shop = new X402PaymentHandler({ facilitatorUrl, network, treasuryAddress: payTo })
  const route = { amount, asset: { address: asset, decimals: 6 } }
  const sell = async (url, headers) => {
    const requirements = await shop.createPaymentRequirements(route, url)
    const refuse = () => {
      const { status, body } = shop.create402Response(requirements, url)
      return Response.json(body, { status, headers: { 'payment-required': encode(body) } })
    }
    const payment = shop.extractPayment(headers)
    if (payment === null) return refuse()
    const { isValid } = await shop.verifyPayment(payment, requirements)
    if (!isValid) return refuse()
    const settled = await shop.settlePayment(payment, requirements)
    return settled.success
      ? Response.json(report, { headers: { 'payment-response': encode(settled) } })
      : refuse()
  }

  return listenWeb((url, { headers }) => sell(url, headers))
}
