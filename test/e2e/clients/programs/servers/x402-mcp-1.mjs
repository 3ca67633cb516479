import { createPaidMcpHandler } from 'x402-mcp'
import { listenWeb } from '../listen.mjs'
import { report } from '../routes.mjs'

export const openShop = ({ facilitatorUrl, families: { evm } }) => {
  const handler = createPaidMcpHandler(
    (server) => {
      server.paidTool('report', 'Tomorrow’s weather', { price: 0.01 }, {}, {}, async () => ({
        content: [{ type: 'text', text: JSON.stringify(report) }],
      }))
    },
    {},
    { recipient: evm.payTo, network: evm.name, facilitator: { url: facilitatorUrl }, disableSse: true },
  )
  return listenWeb((url, init) => handler(new Request(url.replace('/evm', '/mcp'), init)))
}
