import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { experimental_createMCPClient } from 'ai'
import { privateKeyToAccount } from 'viem/accounts'
import { withPayment } from 'x402-mcp'

/** Makes the three tool calls that a language model makes to buy. */
export const createBuyer =
  ({ families: { evm } }) =>
  async (url) => {
    const transport = new StreamableHTTPClientTransport(new URL(url))
    const plain = await experimental_createMCPClient({ transport })
    const client = await withPayment(plain, { account: privateKeyToAccount(evm.secret), network: evm.name })
    const tools = await client.tools()
    const options = { toolCallId: 'call', messages: [] }
    const refusal = await tools.report.execute({}, options)
    const [paymentRequirements] = JSON.parse(refusal.content[0].text).accepts
    const authorization = await tools.generatePaymentAuthorization.execute({ paymentRequirements }, options)
    const answer = await tools.report.execute(authorization, options)
    return {
      status: answer.isError ? 402 : 200,
      body: answer.content[0].text,
      receipt: answer._meta?.['x402.payment-response'] ?? null,
    }
  }
