import { createServer, type ServerResponse } from 'node:http'
import type { Hex } from 'viem'
import { z } from 'zod'
import { hashVoucher } from '../src/chains/evm/channels/contract.js'
import { hashAuthorization } from '../src/chains/evm/exact/payload.js'
import { loadNativeRecover } from '../src/chains/evm/signatures/signature.js'

/*
 * The least that one process can do for a payment of a key: it reads JSON, hashes and recovers the signature, and answers. It checks
 * no field, asks no chain, limits and remembers nothing.
 */
const [chainId = '0', port = '0'] = process.argv.slice(2)

const recover = loadNativeRecover()
if (recover === null) throw new Error('The addon of libsecp256k1 does not fit this machine')

interface Signed {
  readonly signer: Hex
  readonly digest: Hex
  readonly signature: Hex
}

const body = z.custom<{
  readonly paymentPayload: {
    readonly payload: {
      readonly signature: Hex
      readonly authorization: {
        readonly from: Hex
        readonly to: Hex
        readonly value: string
        readonly validAfter: string
        readonly validBefore: string
        readonly nonce: Hex
      }
      readonly channelConfig?: { readonly payerAuthorizer: Hex }
      readonly voucher: {
        readonly channelId: Hex
        readonly maxClaimableAmount: string
        readonly signature: Hex
      }
    }
  }
  readonly paymentRequirements: {
    readonly asset: Hex
    readonly extra: { readonly name: string; readonly version: string }
  }
}>()

const readSigned = (text: string): Signed => {
  const { paymentPayload, paymentRequirements } = body.parse(JSON.parse(text))
  const { payload } = paymentPayload
  if (payload.channelConfig !== undefined) {
    const { channelId, maxClaimableAmount, signature } = payload.voucher
    const digest = hashVoucher(Number(chainId), channelId, BigInt(maxClaimableAmount))
    return { signer: payload.channelConfig.payerAuthorizer, digest, signature }
  }
  const { asset, extra } = paymentRequirements
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
  const times = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
  const authorization = { from, to, value: BigInt(value), ...times, nonce }
  const domain = { name: extra.name, version: extra.version, chainId: Number(chainId), asset }
  return { signer: from, digest: hashAuthorization(authorization, domain), signature: payload.signature }
}

const answer = async (text: string, response: ServerResponse): Promise<void> => {
  const { signer, digest, signature } = readSigned(text)
  const v = signature.endsWith('1b') ? 27 : 28
  const found = await recover(digest, {
    v,
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
  })
  const isValid = found?.toLowerCase() === signer.toLowerCase()
  const bytes = Buffer.from(JSON.stringify({ isValid, payer: signer }))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
}

createServer((request, response) => {
  if (request.method === 'GET') {
    response.end('ready')
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => void answer(Buffer.concat(chunks).toString(), response))
}).listen(Number(port), '127.0.0.1')
