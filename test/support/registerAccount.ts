import { z } from 'zod'
import { fetchServed } from './fetchServed.js'

const registered = z.object({ apiKey: z.string() })

/**
 * Registers and returns the API key. A service whose Redis misses its deadline, as on a busy machine, closes registration
 * for a few seconds with 503; it is asked again. Any other refusal is an error.
 */
export const registerAccount = async (
  serviceUrl: string,
  account: { readonly email: string; readonly projectName: string },
): Promise<string> => {
  const response = await fetchServed(`${serviceUrl}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  if (response.ok) return registered.parse(await response.json()).apiKey
  throw new Error(`POST /register answered ${response.status}: ${await response.text()}`)
}
