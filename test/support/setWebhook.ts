import { z } from 'zod'
import { fetchServed } from './fetchServed.js'

const webhookSet = z.object({ secret: z.string() })

/** Sets the webhook of an account, and returns the secret that signs its messages; null if the service refuses the address. */
export const setWebhook = async (
  serviceUrl: string,
  { apiKey, webhookUrl }: { readonly apiKey: string; readonly webhookUrl: string },
): Promise<string | null> => {
  const response = await fetchServed(`${serviceUrl}/dashboard/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ webhookUrl }),
  })
  if (response.status === 400) return null
  if (response.ok) return webhookSet.parse(await response.json()).secret
  throw new Error(`POST /dashboard/webhook answered ${response.status}: ${await response.text()}`)
}
