import { createSigner, wrapFetchWithPayment } from 'x402-fetch'
import { readResponse } from '../readResponse.mjs'

export const createBuyer =
  ({ families }) =>
  async (url, family) => {
    const { name, signer, rpcUrl } = families[family]
    const wallet = await createSigner(name, signer)
    const pay = wrapFetchWithPayment(fetch, wallet, undefined, undefined, { svmConfig: { rpcUrl } })
    return readResponse(await pay(url))
  }
