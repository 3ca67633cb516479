import axios from 'axios'
import { createSigner, withPaymentInterceptor } from 'x402-axios'
import { readAxiosResponse } from '../readResponse.mjs'

export const createBuyer =
  ({ families }) =>
  async (url, family) => {
    const { name, signer, rpcUrl } = families[family]
    const wallet = await createSigner(name, signer)
    const client = withPaymentInterceptor(axios.create(), wallet, undefined, { svmConfig: { rpcUrl } })
    return readAxiosResponse(await client.get(url))
  }
