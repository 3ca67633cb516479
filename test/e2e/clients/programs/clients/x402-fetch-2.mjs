import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createSchemes } from '../createSchemes.mjs'
import { readResponse } from '../readResponse.mjs'

export const createBuyer = async ({ families }) => {
  const schemes = await createSchemes(families)
  const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes })
  return async (url) => readResponse(await pay(url))
}
