import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { readResponse } from '../readResponse.mjs'

/** Signs a hold, which the server captures. */
export const createBuyer = async ({ families: { evm } }) => {
  const client = new AuthCaptureEvmScheme(privateKeyToAccount(evm.secret))
  const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: evm.network, client }] })
  return async (url) => readResponse(await pay(url))
}
