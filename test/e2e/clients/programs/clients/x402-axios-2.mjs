import { wrapAxiosWithPaymentFromConfig } from '@x402/axios'
import axios from 'axios'
import { createSchemes } from '../createSchemes.mjs'
import { readAxiosResponse } from '../readResponse.mjs'

export const createBuyer = async ({ families }) => {
  const schemes = await createSchemes(families)
  const client = wrapAxiosWithPaymentFromConfig(axios.create(), { schemes })
  return async (url) => readAxiosResponse(await client.get(url))
}
