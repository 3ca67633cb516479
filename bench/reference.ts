import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { UptoEvmScheme } from '@x402/evm/upto/facilitator'
import express from 'express'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { z } from 'zod'

/* The reference facilitator of the protocol, as documented, in a separate process to measure its CPU time. */
const [rpcUrl = '', privateKey = '', port = '0'] = process.argv.slice(2)

const account = privateKeyToAccount(`0x${privateKey.slice(2)}`)
const client = createWalletClient({ account, chain: baseSepolia, transport: http(rpcUrl) }).extend(
  publicActions,
)
const typedData = z.custom<Parameters<typeof client.verifyTypedData>[0]>()
const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => client.getCode(args),
  readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => client.verifyTypedData(typedData.parse(args)),
  writeContract: (args) => client.writeContract({ ...args, args: args.args ?? [] }),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
})
const facilitator = new x402Facilitator()
  .register('eip155:84532', new ExactEvmScheme(signer))
  .register('eip155:84532', new UptoEvmScheme(signer))
  .register('eip155:84532', new BatchSettlementEvmScheme(signer))

const app = express()
app.use(express.json())
app.get('/health', (_request, response) => {
  response.json({ status: 'ok' })
})
app.post('/verify', async (request, response) => {
  response.json(await facilitator.verify(request.body.paymentPayload, request.body.paymentRequirements))
})
app.post('/settle', async (request, response) => {
  response.json(await facilitator.settle(request.body.paymentPayload, request.body.paymentRequirements))
})
app.listen(Number(port), '127.0.0.1')
