import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { readResponse } from '../readResponse.mjs'

/** Deposits into a channel, and pays by vouchers. */
export const createBuyer = async ({ families: { evm } }) => {
  const client = new BatchSettlementEvmScheme(privateKeyToAccount(evm.secret))
  const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: evm.network, client }] })
  return async (url) => readResponse(await pay(url))
}
