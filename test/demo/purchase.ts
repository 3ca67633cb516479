import type { SchemeNetworkClient } from '@x402/core/types'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import type { Narrator } from './narrator.js'

interface Purchase {
  readonly url: string
  readonly network: `${string}:${string}`
  readonly client: SchemeNetworkClient
}

/** Buys with the published client and prints both of its requests and the decoded 402. Throws unless it is paid. */
export const buyReport = async ({ url, network, client }: Purchase, narrator: Narrator): Promise<void> => {
  const printingFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const isPaid = request.headers.has('PAYMENT-SIGNATURE')
    narrator.step(`GET ${url}${isPaid ? ' again, with PAYMENT-SIGNATURE' : ''}`)
    const answer = await fetch(request)
    const required = answer.headers.get('PAYMENT-REQUIRED')
    if (answer.status === 402 && required !== null) {
      narrator.step('402 Payment Required. Its header PAYMENT-REQUIRED, decoded from base64:')
      narrator.block(JSON.stringify(JSON.parse(Buffer.from(required, 'base64').toString('utf8')), null, 2))
    }
    return answer
  }
  const begun = performance.now()
  const fetchWithPayment = wrapFetchWithPaymentFromConfig(printingFetch, { schemes: [{ network, client }] })
  const response = await fetchWithPayment(url)
  const receipt = response.headers.get('PAYMENT-RESPONSE')
  if (response.status !== 200 || receipt === null) {
    throw new Error(`The shop answered ${response.status}: ${await response.text()}`)
  }
  const { success, transaction } = decodePaymentResponseHeader(receipt)
  narrator.step(`200 OK, with PAYMENT-RESPONSE, after ${Math.round(performance.now() - begun)} ms`, {
    success: String(success),
    transaction,
    body: await response.text(),
  })
}
