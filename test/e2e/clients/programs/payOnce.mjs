import { readResponse } from './readResponse.mjs'

/** The flow that the core packages of x402 and t402 document for use without a wrapper. */
export const payOnce = (client) => async (url) => {
  const refusal = await fetch(url)
  const text = await refusal.text()
  const body = text === '' ? undefined : JSON.parse(text)
  const required = client.getPaymentRequiredResponse((name) => refusal.headers.get(name), body)
  const payload = await client.createPaymentPayload(required)
  return readResponse(await fetch(url, { headers: client.encodePaymentSignatureHeader(payload) }))
}
