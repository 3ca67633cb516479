import { z } from 'zod'
import { fetchServed } from '../support/fetchServed.js'

const registered = z.object({ apiKey: z.string() })
const webhookSet = z.object({ secret: z.string() })
const fullKey = /^qtn_sk_[A-Za-z0-9_]+$/

/** The API key of a new account for the shop; null where it goes by mail (REGISTRATION=verified). */
export const openAccount = async (facilitatorUrl: string): Promise<string | null> => {
  const response = await post(`${facilitatorUrl}/register`, {
    body: { email: 'shop@demo.example', projectName: 'Demo shop' },
  })
  if (!response.ok) throw new Error(`POST /register answered ${response.status}: ${await response.text()}`)
  const { apiKey } = registered.parse(await response.json())
  return fullKey.test(apiKey) ? apiKey : null
}

/** Sets the webhook and returns its secret; null if the facilitator refuses addresses of this machine. */
export const receiveWebhooks = async (
  facilitatorUrl: string,
  { apiKey, webhookUrl }: { readonly apiKey: string; readonly webhookUrl: string },
): Promise<string | null> => {
  const response = await post(`${facilitatorUrl}/dashboard/webhook`, { body: { webhookUrl }, apiKey })
  if (response.status === 400) return null
  if (!response.ok) throw new Error(`POST /dashboard/webhook answered ${response.status}`)
  return webhookSet.parse(await response.json()).secret
}

const post = (url: string, { body, apiKey }: { readonly body: unknown; readonly apiKey?: string }) =>
  fetchServed(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  })
