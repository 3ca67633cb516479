import { Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { privateKeyToAccount } from 'viem/accounts'
import { readResponse } from '../readResponse.mjs'

/** Signs for the Machine Payments Protocol where the server offers it, else for x402. */
export const createBuyer = ({ families, version }) => {
  const account = privateKeyToAccount(families.evm.secret)
  const methods = [evm.charge({ account, currencies: [evm.assets.baseSepolia.USDC], maxAmount: '0.01' })]
  const client = Mppx.create({ methods, polyfill: false })
  return async (url) => {
    const response = await client.fetch(url)
    const read = await readResponse(response)
    return version === 'MPP' ? { ...read, receipt: readMppReceipt(response, read) } : read
  }
}

/** Null after a payment by x402, which servers answer with both receipts. */
const readMppReceipt = (response, { receipt }) => {
  if (receipt !== null || !response.headers.has('payment-receipt')) return null
  const { status, reference } = Receipt.fromResponse(response)
  return { success: status === 'success', transaction: reference }
}
