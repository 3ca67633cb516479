import { createKeyPairSignerFromBytes } from '@solana/kit'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme } from '@x402/svm/exact/facilitator'
import express from 'express'

/* The reference facilitator for Solana from its npm packages, behind express, in a separate process. */
const [rpcUrl = '', privateKey = '', port = '0', network = ''] = process.argv.slice(2)

const [namespace = '', reference = ''] = network.split(':')
const keypair = await createKeyPairSignerFromBytes(Buffer.from(privateKey, 'base64'))
const signer = toFacilitatorSvmSigner(keypair, { defaultRpcUrl: rpcUrl })
const facilitator = new x402Facilitator().register(`${namespace}:${reference}`, new ExactSvmScheme(signer))

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
